//! The programs in the kernel: loaded, attached, and what they say taken out.

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
