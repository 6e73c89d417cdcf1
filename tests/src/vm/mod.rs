//! Virtual machines with kernels of Debian's releases, emulated by qemu. Begin reading with `guest.rs`.

mod cpio;
mod debian;
mod guest;
mod kernel;
mod modules;

pub use guest::{Guest, Ran, Step, StepEnd};
pub use kernel::VmKernel;
