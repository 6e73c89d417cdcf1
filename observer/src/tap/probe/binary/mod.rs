//! Where in a program the probes go: which TLS libraries an ELF file offers, and the file offsets at which uprobes show
//! their plaintext.
//!
//! Bytes in, offsets out; [`read_program`] and [`names_tls_functions`] alone touch a file. A file may come from a stranger: it can make
//! [`probe_points`] return an error, never panic. [`bounds`] has the limits of work and memory. A big-endian or 32-bit file and a
//! machine other than x86-64 and arm64 are refused.

pub mod bounds;
mod elf;
mod error;
mod function;
mod go;
mod instruction;
#[cfg(test)]
mod made_up;
mod named;
mod openssl;
mod probe_point;
mod program_file;
mod relocations;
mod rustls;
mod symbols;
#[cfg(test)]
mod tests;
mod tls_library;
mod unwind_table;
mod x86;

pub use error::BinaryError;
pub use go::{GoProbePoints, GoVersion, Http2Function};
pub use named::names_tls_functions;
pub use openssl::{CallProbes, OpenSslFlavour, OpenSslLinkage, OpenSslProbePoints, RefusedFunction};
pub use probe_point::{Execution, ProbePoint};
pub use program_file::read_program;
pub use rustls::Rustls;
pub use tls_library::{TlsLibrary, probe_points};
