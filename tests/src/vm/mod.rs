//! Virtual machines with kernels of Debian's releases, emulated by qemu. Begin reading with `guest.rs`.

mod architecture;
mod cpio;
mod debian;
mod guest;
mod kernel;
mod modules;
mod root;

pub use guest::{GUEST_FILES, Guest, Ran, Step, StepEnd};
pub use kernel::VmKernel;
