//! `probing`: the cost of the probe for a client, compared with uprobes at the same offsets that only count.
//!
//! The client is a separate program, in Python with OpenSSL or in Go. It sends small requests and reads the answers: one write and
//! one read of its TLS library per exchange. It measures its own CPU time. All processors are kept awake in each mode, and the client and the
//! server have one each.

mod awake;
mod bare;
mod client;
mod command;
mod crowd;
mod mode;
mod processors;
mod report;

pub(crate) use command::{Args, execute};
