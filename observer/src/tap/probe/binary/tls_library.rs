//! The TLS libraries of a program.

use super::elf::Elf;
use super::error::BinaryError;
use super::go::{self, GoProbePoints};
use super::openssl::{self, OpenSslProbePoints};
use super::rustls::{self, Rustls};

/// A TLS library that a file contains.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TlsLibrary {
    /// Go's `crypto/tls`.
    GoCryptoTls(GoProbePoints),
    /// OpenSSL or a library with its interface.
    OpenSsl(OpenSslProbePoints),
    /// Recognised, but cannot be probed.
    Rustls(Rustls),
}

/// The TLS libraries in an ELF file; empty if it has none of Go's `crypto/tls`, OpenSSL, `BoringSSL` and rustls.
///
/// A program that only loads libssl as a shared library does not contain OpenSSL; the file of libssl does.
pub fn probe_points(elf: &[u8]) -> Result<Vec<TlsLibrary>, BinaryError> {
    let elf = Elf::parse(elf)?;
    let go = go::find(&elf)?.map(TlsLibrary::GoCryptoTls);
    let openssl = openssl::find(&elf)?.map(TlsLibrary::OpenSsl);
    let rustls = rustls::find(&elf)?.map(TlsLibrary::Rustls);
    Ok(go.into_iter().chain(openssl).chain(rustls).collect())
}
