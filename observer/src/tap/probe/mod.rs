//! The tap that forwards nothing: eBPF programs record what TLS libraries of processes on this machine are given and give out.

mod assembly;
pub mod binary;
mod call_rate;
mod cgroup;
mod check;
mod containers;
mod file_numbers;
mod file_table;
mod files;
mod installed;
pub mod kernel;
mod late;
mod libraries;
mod limit;
mod namespace;
mod never;
mod opened_file;
mod options;
mod plan;
mod program_file;
mod program_files;
mod run;
mod selection;
mod telling;

pub use assembly::{Answer, Assembly, Limits};
pub use options::{ProbeError, ProbeOptions, ProbeOutcome};
pub use run::ProbeTap;
pub use selection::SelectionError;
