//! The TLS libraries that a program offers to probes.

use super::elf::Elf;
use super::error::BinaryError;
use super::go::{self, GoProbePoints};
use super::openssl::{self, OpenSslProbePoints};
use super::rustls::{self, Rustls};

/// A TLS library that a file contains.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TlsLibrary {
    /// Go's own.
    GoCryptoTls(GoProbePoints),
    /// OpenSSL or a library with its interface.
    OpenSsl(OpenSslProbePoints),
    /// Recognised, and out of reach.
    Rustls(Rustls),
}

/// The TLS libraries in an ELF file; empty if it has none of Go's `crypto/tls`, OpenSSL, `BoringSSL` and rustls.
///
/// A program that only loads libssl as a shared library has none itself: the file of libssl has.
pub fn probe_points(elf: &[u8]) -> Result<Vec<TlsLibrary>, BinaryError> {
    let elf = Elf::parse(elf)?;
    let go = go::find(&elf)?.map(TlsLibrary::GoCryptoTls);
    let openssl = openssl::find(&elf)?.map(TlsLibrary::OpenSsl);
    let rustls = rustls::find(&elf)?.map(TlsLibrary::Rustls);
    Ok(go.into_iter().chain(openssl).chain(rustls).collect())
}
