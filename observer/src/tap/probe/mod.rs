//! The probe, which is the tap without a proxy: eBPF programs record the plaintext that TLS libraries of local processes take and
//! return.

mod assembly;
mod attach;
pub mod binary;
mod check;
mod collect;
mod error;
mod find;
pub mod kernel;
mod kernel_clock;
mod limit;
mod options;
mod run;

pub use assembly::{Assembly, Limits, Recording};
pub use error::{OptionsError, ProbeError};
pub use options::{ProbeOptions, ProbeOutcome};
pub use run::ProbeTap;
