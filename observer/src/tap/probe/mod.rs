//! The probe, which is the tap without a proxy: eBPF programs record the plaintext that TLS libraries of local processes take and
//! return.

mod addresses;
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
mod recorded_work;
mod run;

pub use addresses::{FollowedAddresses, MAX_ADDRESSES, ServerAddresses};
pub use assembly::{Assembly, Limits, Recording};
pub use error::{OptionsError, ProbeError};
pub(crate) use find::is_any_listened_on;
pub use options::{ProbeOptions, ProbeOutcome, ServerEnds};
pub use run::ProbeTap;
