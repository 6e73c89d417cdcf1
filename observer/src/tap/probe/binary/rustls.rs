//! Recognises rustls in a program, although it cannot be probed.

use memchr::memmem;

use super::bounds;
use super::elf::Elf;
use super::error::BinaryError;
use super::symbols::Symbols;

/// Panic messages name source files: `/rustls-0.23.40/src/…`.
const SOURCE_FOLDER: &[u8] = b"/rustls-0.";

/// rustls is linked into the program. It cannot be probed: no function that takes or returns plaintext has a stable name and
/// calling convention. The compiler inlines and renames these functions with every build.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rustls {
    /// From the program's panic messages, such as `0.23.40`; `None` if only symbols show rustls.
    pub version: Option<String>,
}

impl Rustls {
    /// Why it has no probe points.
    pub const OUT_OF_REACH: &'static str =
        "rustls has no function with a stable name and calling convention that plaintext passes; use the proxy for this client";
}

pub(super) fn find(elf: &Elf<'_>) -> Result<Option<Rustls>, BinaryError> {
    if let Some(version) = elf.segments().iter().find_map(|segment| version(segment.bytes)) {
        return Ok(Some(Rustls { version: Some(version) }));
    }
    let symbols = Symbols::of(elf)?;
    let has_symbol = symbols.any_contains(b"_ZN6rustls") || symbols.any_contains(b"_6rustls");
    Ok(has_symbol.then_some(Rustls { version: None }))
}

fn version(bytes: &[u8]) -> Option<String> {
    const LONGEST: usize = 24;
    const ZERO_DOT: usize = 2;
    memmem::find_iter(bytes, SOURCE_FOLDER).take(bounds::CANDIDATES).find_map(|at| {
        let start = at.checked_add(SOURCE_FOLDER.len())?.checked_sub(ZERO_DOT)?;
        let rest = bytes.get(start..)?;
        let (version, after) = rest.split_at_checked(rest.iter().take(LONGEST).position(|byte| *byte == b'/')?)?;
        let is_version = version.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(byte));
        (is_version && after.starts_with(b"/src/")).then(|| String::from_utf8_lossy(version).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_read_only_from_the_rustls_source_path() {
        let rows: &[(&[u8], Option<&str>)] = &[
            (b"index-0123/rustls-0.23.46/src/conn.rs", Some("0.23.46")),
            (b"index-0123/rustls-0.24.0-dev.0/src/conn.rs", Some("0.24.0-dev.0")),
            (b"index-0123/tokio-rustls-0.26.4/src/lib.rs", None),
            (b"index-0123/rustls-0.23.46/examples/", None),
            (b"see /rustls-0.23 and others/src/", None),
            (b"cut off at /rustls-0.", None),
        ];
        for (bytes, expected) in rows {
            assert_eq!(version(bytes).as_deref(), *expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
