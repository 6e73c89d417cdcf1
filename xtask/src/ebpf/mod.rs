//! `cargo xtask ebpf`: the committed object of the programs that run in the kernel, which an ordinary toolchain cannot build.

mod build;
mod command;
mod object;
mod toolchain;

pub(crate) use command::{Args, execute};
