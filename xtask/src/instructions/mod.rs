//! `cargo xtask instructions`: a gate for speed that noise cannot fool.
//!
//! It counts instructions instead of seconds, so the load of the machine has no influence. The same work is counted for the base
//! commit and for this one, in one run with the same tools.

mod acceptance;
mod base;
mod command;
mod comparison;
mod counting;

pub(crate) use command::{Args, execute};
