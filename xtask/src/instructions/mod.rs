//! `cargo xtask instructions`: a performance check that is not affected by noise.
//!
//! It counts instructions instead of measuring time, so the load of the machine has no effect. The same work is counted for the
//! base commit and for the current one, in one run with the same tools.

mod acceptance;
mod base;
mod command;
mod comparison;
mod counting;

pub(crate) use command::{Args, execute};
