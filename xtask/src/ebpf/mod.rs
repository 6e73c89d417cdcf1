//! `cargo xtask ebpf`: the programs that run in the kernel, as the object that is committed, because an ordinary toolchain cannot build it.

mod build;
mod command;
mod object;
mod toolchain;

pub(crate) use command::{Args, execute};
