//! Finds where to probe a program: the TLS libraries that an ELF file contains, and the file offsets at which uprobes see their
//! plaintext.
//!
//! The input is bytes, and the output is offsets. [`ProgramBytes`] reads the bytes of a file in pieces. A file may be untrusted: it
//! can make [`probe_points`] return an error, never panic. [`bounds`] has the limits of work and memory. Big-endian files, 32-bit
//! files and machines other than x86-64 and arm64 are refused.

mod arm64;
pub mod bounds;
mod convention;
mod elf;
mod error;
mod function;
mod go;
mod instruction;
mod named;
mod openssl;
mod probe_point;
mod program_bytes;
mod read_program;
mod relocations;
mod rustls;
mod symbols;
#[cfg(test)]
mod synthetic_elf;
#[cfg(test)]
mod tests;
mod tls_library;
mod unprobed;
mod unwind_table;
mod x86;

pub use error::BinaryError;
pub use go::{GoProbePoints, GoVersion, Http2Function};
pub use named::names_tls_functions;
pub use openssl::{CallProbes, OpenSslFlavour, OpenSslLinkage, OpenSslProbePoints, RefusedFunction};
pub use probe_point::{Execution, ProbePoint};
pub use program_bytes::ProgramBytes;
pub use read_program::{OpenProgram, read_program};
pub use rustls::Rustls;
pub use tls_library::{TlsLibrary, TlsSearch, probe_points};
pub use unprobed::UnprobedLibrary;
