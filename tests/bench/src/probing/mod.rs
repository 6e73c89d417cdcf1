//! `probing`: what a client pays for being probed, beside the bare uprobes of the kernel at the same places.
//!
//! The client is a program of its own, in Python with OpenSSL or in Go, which sends a small request and reads the answer, one write and one read of its
//! TLS library each time. It says itself what CPU time it needed.

mod bare;
mod client;
mod command;
mod mode;
mod report;

pub(crate) use command::{Args, execute};
