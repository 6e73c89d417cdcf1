//! `cargo xtask fuzz`: inputs that nobody would send, made up by libFuzzer, for the targets in `tests/fuzz`.

mod command;
mod libfuzzer;
mod running;
mod summary;
mod target;
mod tools;

pub(crate) use command::{Args, execute};
