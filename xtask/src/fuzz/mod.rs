//! `cargo xtask fuzz`: runs the fuzz targets in `tests/fuzz` with libFuzzer.

mod command;
mod libfuzzer;
mod running;
mod summary;
mod target;
mod tools;

pub(crate) use command::{Args, execute};
