//! The tap that forwards nothing: eBPF programs record what TLS libraries of processes on this machine are given and give out.

mod assembly;
pub mod binary;
pub mod kernel;
mod program_files;
mod sockets;

pub use assembly::{Assembly, ConnectionEnds, Limits, Whereabouts};
pub use program_files::{FileIdentity, ProgramFile, program_files};
pub use sockets::Sockets;
