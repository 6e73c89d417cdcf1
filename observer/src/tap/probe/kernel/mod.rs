//! Loads and attaches the eBPF programs, and reads their records.

mod api_servers;
mod attach;
mod attach_by;
mod error;
mod instructions;
mod offsets;
mod own_entry;
mod programs;
mod recorded;
mod system_call;
mod uprobes;

pub use attach::{Attachment, Probe};
pub use attach_by::{AttachBy, PairBy};
pub use error::KernelError;
pub(super) use offsets::kernel_offsets;
pub(super) use own_entry::{OWN_PROGRAM, own_entry};
pub use programs::{Options, Programs, Selected};
pub use recorded::Recorded;
