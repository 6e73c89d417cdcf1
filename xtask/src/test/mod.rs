//! `cargo xtask test`: runs every test that can run on this machine, in groups, and prints why a group was left out.

mod accuracy;
mod command;
mod document;
mod extent;
mod faults;
mod group;
mod kernel_table;
mod kernels;
mod lanes;
mod libtest;
mod log_accuracy;
mod machine;
mod matrix;
mod panels;
mod processor_time;
mod report;
mod running;
mod signals;

pub(crate) use command::{Args, execute};
pub(crate) use group::Group;
pub(crate) use machine::Machine;
#[cfg(test)]
pub(crate) use {
    extent::Extent,
    kernels::Kernels,
    matrix::{MINORS, Matrix},
    panels::HEADING as PANELS_HEADING,
};
