//! `cargo xtask ebpf`: builds and checks the committed objects with the eBPF programs, which an ordinary toolchain cannot build.

mod build;
mod command;
mod object;
mod toolchain;

pub(crate) use command::{Args, execute};
