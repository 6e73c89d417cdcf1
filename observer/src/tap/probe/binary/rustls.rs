//! Recognises rustls in a program, although it cannot be probed.

use super::bounds;
use super::elf::{Elf, Extent};
use super::error::BinaryError;
use super::program_bytes::ProgramBytes;
use super::symbols::Symbols;

/// Panic messages name source files: `/rustls-0.23.40/src/…`.
const SOURCE_FOLDER: &[u8] = b"/rustls-0.";
/// Follows the version.
const FOLDER: &[u8] = b"/src/";
/// Maximum length of a version, in bytes.
const LONGEST: u64 = 24;

/// rustls is linked into the program. It cannot be probed: no function that takes or returns plaintext has a stable name and
/// calling convention. The compiler inlines and renames these functions with every build.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rustls {
    /// From the program's panic messages, such as `0.23.40`; `None` if only symbols show rustls.
    pub version: Option<String>,
}

pub(super) fn find(elf: &Elf<'_>) -> Result<Option<Rustls>, BinaryError> {
    if let Some(version) = elf.segments().iter().find_map(|segment| version(elf.bytes(), segment.extent)) {
        return Ok(Some(Rustls { version: Some(version) }));
    }
    let symbols = Symbols::of(elf)?;
    let has_symbol = symbols.any_contains(b"_ZN6rustls") || symbols.any_contains(b"_6rustls");
    Ok(has_symbol.then_some(Rustls { version: None }))
}

/// The version in the first path of a source file of rustls.
fn version(program: ProgramBytes<'_>, extent: Extent) -> Option<String> {
    const ZERO_DOT: u64 = 2;
    let end = extent.offset.checked_add(extent.length)?;
    let mut candidates = 0;
    let found = program.find(extent.offset, extent.length, SOURCE_FOLDER, |at| {
        candidates += 1;
        let start = at.checked_add(SOURCE_FOLDER.len() as u64)?.checked_sub(ZERO_DOT)?;
        let rest = program.piece(start, end.checked_sub(start)?.min(LONGEST + FOLDER.len() as u64))?;
        in_path(&rest).map(Some).or((candidates == bounds::CANDIDATES).then_some(None))
    });
    found.flatten()
}

/// The version that a path begins with.
fn in_path(rest: &[u8]) -> Option<String> {
    let (version, after) = rest.split_at_checked(rest.iter().position(|byte| *byte == b'/')?)?;
    let is_version = version.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(byte));
    (is_version && after.starts_with(FOLDER)).then(|| String::from_utf8_lossy(version).into_owned())
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
            let extent = Extent { address: 0, offset: 0, length: bytes.len() as u64 };
            assert_eq!(version(ProgramBytes::from(*bytes), extent).as_deref(), *expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
