//! Attaches programs to the files of processes: which ones, where, when, and at what cost.

mod attacher;
mod connection_checks;
mod endings;
mod excess_cause;
mod file_numbers;
mod file_table;
mod not_probed;
mod orders;
mod plan;
mod probed_file;
mod probed_files;
mod processor_use;
mod rate;
mod readiness;
mod schedule;
mod watchdog;

pub(super) use attacher::{Attacher, Task};
pub(super) use not_probed::{NotProbed, out_of_reach};
pub(super) use orders::{FieldRecording, Finding, Order, Orders, findings};
pub(super) use probed_files::ProbedFiles;
pub(super) use watchdog::{Heartbeat, Watchdog};
