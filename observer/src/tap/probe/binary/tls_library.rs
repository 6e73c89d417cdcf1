//! The TLS libraries of a program.

use super::elf::Elf;
use super::error::BinaryError;
use super::go::{self, GoProbePoints};
use super::openssl::{self, OpenSslProbePoints};
use super::program_bytes::ProgramBytes;
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
pub fn probe_points<'a>(program: impl Into<ProgramBytes<'a>>) -> Result<Vec<TlsLibrary>, BinaryError> {
    let search = TlsSearch::of(program)?;
    let mut libraries = search.probed()?;
    libraries.extend(search.unprobed()?);
    Ok(libraries)
}

/// The search in one file. It has two parts, so that a caller can attach probes after the first one: the second one reads the
/// complete file.
pub struct TlsSearch<'a> {
    elf: Elf<'a>,
}

impl<'a> TlsSearch<'a> {
    /// Reads the headers of a file.
    ///
    /// # Errors
    ///
    /// The file is no program for a known machine, or its headers are malformed.
    pub fn of(program: impl Into<ProgramBytes<'a>>) -> Result<Self, BinaryError> {
        Ok(Self { elf: Elf::parse(program.into())? })
    }

    /// The libraries that can be probed. In a program of Go, this takes a few milliseconds.
    ///
    /// # Errors
    ///
    /// A part of the file is malformed, or a library is there whose functions cannot be located.
    pub fn probed(&self) -> Result<Vec<TlsLibrary>, BinaryError> {
        let go = go::find(&self.elf)?.map(TlsLibrary::GoCryptoTls);
        let openssl = openssl::find(&self.elf)?.map(TlsLibrary::OpenSsl);
        Ok(go.into_iter().chain(openssl).collect())
    }

    /// A library that is only recognised. The complete file is searched for it.
    ///
    /// # Errors
    ///
    /// A symbol table is malformed.
    pub fn unprobed(&self) -> Result<Option<TlsLibrary>, BinaryError> {
        Ok(rustls::find(&self.elf)?.map(TlsLibrary::Rustls))
    }
}
