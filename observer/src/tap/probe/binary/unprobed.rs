//! Recognises TLS libraries that cannot be probed, so that their clients can be named.

use super::bounds;
use super::elf::{Elf, Extent};
use super::error::BinaryError;
use super::program_bytes::ProgramBytes;
use super::rustls::{self, Rustls};
use super::symbols::Symbols;

/// A TLS library that is recognised and cannot be probed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum UnprobedLibrary {
    /// rustls, linked into the program.
    Rustls(Rustls),
    /// OpenSSL, linked in without symbols.
    OpenSsl,
    /// `BoringSSL` or a library derived from it, linked in without symbols.
    BoringSsl,
    /// A shared library, or linked into a program with symbols.
    GnuTls,
    /// The library of Mozilla, with libssl3 and NSPR.
    Nss,
    /// The Java VM, whose own TLS is JSSE.
    Java,
    /// As [`Self::GnuTls`].
    MbedTls,
    /// As [`Self::GnuTls`].
    WolfSsl,
}

/// A function that each file with the library defines, if the file has symbols.
const DEFINED: [(&str, UnprobedLibrary); 5] = [
    // GnuTLS 3.8, lib/record.c.
    ("gnutls_record_send", UnprobedLibrary::GnuTls),
    // NSS 3.87, lib/ssl/ssl.def.
    ("SSL_ImportFD", UnprobedLibrary::Nss),
    // OpenJDK 17, src/hotspot/share/prims/jni.cpp: libjvm has it, and the launcher loads it.
    ("JNI_CreateJavaVM", UnprobedLibrary::Java),
    // Mbed TLS 3.6, library/ssl_msg.c.
    ("mbedtls_ssl_write", UnprobedLibrary::MbedTls),
    // wolfSSL 5.7, src/ssl.c.
    ("wolfSSL_write", UnprobedLibrary::WolfSsl),
];

/// The source file of libssl in each error that it reports: `ssl/ssl_lib.c` of OpenSSL 1.1.1 to 3.5, `ssl/ssl_lib.cc` of `BoringSSL`.
/// Its first letter is missing, because watchtap's own program has this constant and no libssl.
const SOURCE: &[u8] = b"sl/ssl_lib.c";

impl UnprobedLibrary {
    /// The name that its project uses.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Rustls(_) => "rustls",
            Self::OpenSsl => "OpenSSL",
            Self::BoringSsl => "BoringSSL",
            Self::GnuTls => "GnuTLS",
            Self::Nss => "NSS",
            Self::Java => "Java (JSSE)",
            Self::MbedTls => "Mbed TLS",
            Self::WolfSsl => "wolfSSL",
        }
    }

    /// Why it has no probe points.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Rustls(_) => "rustls has no function with a stable name and calling convention that plaintext passes",
            Self::OpenSsl => "OpenSSL is linked in without symbols, so its functions cannot be located",
            Self::BoringSsl => "BoringSSL is linked in without symbols, so its functions cannot be located",
            Self::GnuTls => "the functions of GnuTLS are not probed",
            Self::Nss => "the functions of NSS are not probed",
            Self::Java => "the Java VM compiles its own TLS (JSSE) at run time, so no file has its functions",
            Self::MbedTls => "the functions of Mbed TLS are not probed",
            Self::WolfSsl => "the functions of wolfSSL are not probed",
        }
    }
}

/// The unprobed libraries of a file in which nothing can be probed.
pub(super) fn find(elf: &Elf<'_>) -> Result<Vec<UnprobedLibrary>, BinaryError> {
    let symbols = Symbols::of(elf)?;
    let is_defined = |name: &str| symbols.functions(name, &[name]).iter().any(Option::is_some);
    let defined = DEFINED.into_iter().filter(|(name, _)| is_defined(name)).map(|(_, library)| library);
    let mut found: Vec<UnprobedLibrary> = rustls::find(elf)?.map(UnprobedLibrary::Rustls).into_iter().chain(defined).collect();
    found.extend(elf.segments().iter().find_map(|segment| by_source(elf.bytes(), segment.extent)));
    Ok(found)
}

/// The library to which the name of a source file belongs.
fn by_source(program: ProgramBytes<'_>, extent: Extent) -> Option<UnprobedLibrary> {
    let end = extent.offset.checked_add(extent.length)?;
    let mut candidates = 0;
    let found = program.find(extent.offset, extent.length, SOURCE, |at| {
        candidates += 1;
        let before = at.checked_sub(2).filter(|before| *before >= extent.offset);
        let before = before.and_then(|before| program.piece(before, 2)).unwrap_or_default();
        let after = at.checked_add(SOURCE.len() as u64)?;
        let after = program.piece(after, end.checked_sub(after)?.min(2)).unwrap_or_default();
        let library = match (before.as_slice(), after.as_slice()) {
            ([0 | b'/', b's'], [0, ..]) => Some(UnprobedLibrary::OpenSsl),
            ([0 | b'/', b's'], [b'c', 0]) => Some(UnprobedLibrary::BoringSsl),
            _ => None,
        };
        library.map(Some).or((candidates == bounds::CANDIDATES).then_some(None))
    });
    found.flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libssl_without_symbols_is_recognised_by_its_source_file() {
        let many = b"/ssl/ssl_lib.c, ".repeat(bounds::CANDIDATES);
        let rows: [(&[u8], Option<UnprobedLibrary>); 10] = [
            (b"\0../ssl/ssl_lib.c\0", Some(UnprobedLibrary::OpenSsl)),
            (b"\0ssl/ssl_lib.c\0", Some(UnprobedLibrary::OpenSsl)),
            (b"\0external/boringssl/src/ssl/ssl_lib.cc\0", Some(UnprobedLibrary::BoringSsl)),
            (b"/ssl/ssl_lib.c and /ssl/ssl_lib.cc\0", Some(UnprobedLibrary::BoringSsl)),
            (b"another constant, and sl/ssl_lib.c\0", None),
            (b"sl/ssl_lib.c\0", None),
            (b"\0ssl/ssl_lib.cpp\0", None),
            (b"cut off at /ssl/ssl_lib.c", None),
            (b"cut off at /ssl/ssl_lib.cc", None),
            (&[many.as_slice(), b"/ssl/ssl_lib.c\0"].concat(), None),
        ];
        for (bytes, expected) in rows {
            let extent = Extent { address: 0, offset: 0, length: bytes.len() as u64 };
            assert_eq!(by_source(ProgramBytes::from(bytes), extent), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
