//! The TLS libraries of a program.

use super::elf::Elf;
use super::error::BinaryError;
use super::go::{self, GoProbePoints};
use super::openssl::{self, OpenSslProbePoints};
use super::program_bytes::ProgramBytes;
use super::rustls;
use super::unprobed::{self, UnprobedLibrary};

/// A TLS library that a file contains.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TlsLibrary {
    /// Go's `crypto/tls`.
    GoCryptoTls(GoProbePoints),
    /// OpenSSL or a library with its interface.
    OpenSsl(OpenSslProbePoints),
    /// Recognised, but cannot be probed.
    Unprobed(UnprobedLibrary),
}

/// The TLS libraries in an ELF file; empty if it has none that is recognised.
///
/// A program that only loads libssl as a shared library does not contain OpenSSL; the file of libssl does.
pub fn probe_points<'a>(program: impl Into<ProgramBytes<'a>>) -> Result<Vec<TlsLibrary>, BinaryError> {
    let search = TlsSearch::of(program)?;
    let mut libraries = search.probed()?;
    let unprobed = search.unprobed(&libraries)?;
    libraries.extend(unprobed.into_iter().map(TlsLibrary::Unprobed));
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

    /// Libraries that are only recognised. The complete file is searched for them. In a file with libraries that can be probed, only
    /// rustls is searched for.
    ///
    /// # Errors
    ///
    /// A symbol table is malformed.
    pub fn unprobed(&self, probed: &[TlsLibrary]) -> Result<Vec<UnprobedLibrary>, BinaryError> {
        if probed.is_empty() {
            return unprobed::find(&self.elf);
        }
        Ok(rustls::find(&self.elf)?.map(UnprobedLibrary::Rustls).into_iter().collect())
    }
}
