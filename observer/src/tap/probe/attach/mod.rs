//! Attaches programs to the files of processes: which ones, where, when, and at what cost.

mod call_rate;
mod file_numbers;
mod file_table;
mod files;
mod looking;
mod orders;
mod plan;
mod schedule;
mod standstill;

pub(super) use files::{NotProbed, ProbedFiles, out_of_reach};
pub(super) use looking::{Looking, Task};
pub(super) use orders::{Explained, Finding, Order, Orders, findings};
pub(super) use standstill::{LastTurn, Standstill};
