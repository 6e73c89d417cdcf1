//! The tap that forwards nothing: eBPF programs record what TLS libraries of processes on this machine are given and give out.

mod assembly;
pub mod binary;
mod call_rate;
mod cgroup;
mod check;
mod containers;
mod ending;
mod file_numbers;
mod file_table;
mod files;
mod in_order;
mod installed;
pub mod kernel;
mod kernel_clock;
mod late;
mod left_files;
mod libraries;
mod limit;
mod looking;
mod namespace;
mod never;
mod opened_file;
mod options;
mod orders;
mod plan;
mod probing;
mod program_file;
mod program_files;
mod run;
mod schedule;
mod selection;
mod telling;

pub use assembly::{Answer, Assembly, Limits};
pub use options::{ProbeError, ProbeOptions, ProbeOutcome};
pub use run::ProbeTap;
pub use selection::SelectionError;
