//! `cargo xtask test`: every test that can run on this machine, in named groups, with the reason for each group that was left out.

mod accuracy;
mod command;
mod document;
mod extent;
mod faults;
mod group;
mod libtest;
mod machine;
mod matrix;
mod report;
mod running;
mod signals;

pub(crate) use command::{Args, execute};
pub(crate) use group::Group;
