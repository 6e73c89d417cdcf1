//! Loads and attaches the eBPF programs, and reads their records.

mod api_servers;
mod attach;
mod error;
mod offsets;
mod programs;
mod recorded;
mod system_call;

pub use attach::{Attachment, Probe};
pub use error::KernelError;
pub(super) use offsets::kernel_offsets;
pub use programs::{Options, Programs, Selected};
pub use recorded::Recorded;
