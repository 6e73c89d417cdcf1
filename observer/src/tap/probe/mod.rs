//! The tap that forwards nothing: eBPF programs record what TLS libraries of processes on this machine are given and give out.

mod assembly;
mod sockets;

pub use assembly::{Assembly, ConnectionEnds, Limits, Whereabouts};
pub use sockets::Sockets;
