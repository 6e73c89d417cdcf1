//! The Go release that built a program.

use std::fmt;

use crate::tap::probe::binary::bounds;
use crate::tap::probe::binary::elf::{Elf, Extent};
use crate::tap::probe::binary::error::BinaryError;

const MAGIC: &[u8] = b"\xff Go buildinf:";
const SECTION: &str = ".go.buildinfo";
const HEADER_BYTES: usize = 32;
const FLAGS_AT: usize = 15;
/// Set if the strings follow the header, since Go 1.18; before, the header has pointers to them.
const INLINE_STRINGS: u8 = 2;

/// Releases with known layouts: Go 1.18 to 1.27.
const KNOWN_MINORS: std::ops::RangeInclusive<u32> = 18..=27;

/// The Go release that built a program: one of 1.18 to 1.27.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GoVersion {
    text: String,
    minor: u32,
}

impl GoVersion {
    /// N of Go 1.N.
    pub fn minor(&self) -> u32 {
        self.minor
    }

    /// The release that built a program; `None` if it has neither a record of a Go toolchain nor a section `.gopclntab`.
    ///
    /// Format: Go `src/debug/buildinfo/buildinfo.go`, 1.27. A development build is refused, because its contents are unknown.
    pub(super) fn of(elf: &Elf<'_>) -> Result<Option<Self>, BinaryError> {
        let Some(record) = record(elf) else {
            let has_line_table = elf.section(".gopclntab").is_some();
            return if has_line_table { Err(unknown("unstated")) } else { Ok(None) };
        };
        let flags = record.get(FLAGS_AT).copied().unwrap_or_default();
        if flags & INLINE_STRINGS == 0 {
            return Err(unknown("before 1.18"));
        }
        let text =
            version_text(&record).ok_or_else(|| BinaryError::malformed(SECTION, 0, "the version in it is cut off or too long"))?;
        let minor = minor(&text).filter(|minor| KNOWN_MINORS.contains(minor)).ok_or_else(|| unknown(&text))?;
        Ok(Some(Self { text, minor }))
    }
}

impl fmt::Display for GoVersion {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.text)
    }
}

fn unknown(version: &str) -> BinaryError {
    BinaryError::UnknownGoVersion { version: version.into() }
}

fn record(elf: &Elf<'_>) -> Option<Vec<u8>> {
    let named = elf.section(SECTION).and_then(|section| beginning(elf, section)).filter(|bytes| bytes.starts_with(MAGIC));
    named.or_else(|| elf.segments().iter().find_map(|segment| scanned(elf, segment.extent)))
}

/// As much of a record as the version needs.
fn beginning(elf: &Elf<'_>, record: Extent) -> Option<Vec<u8>> {
    const VARINT_BYTES: usize = 2;
    let longest = HEADER_BYTES + VARINT_BYTES + bounds::GO_VERSION_BYTES + 1;
    elf.bytes().piece(record.offset, record.length.min(longest as u64))
}

/// The linker aligns the record to 16 bytes. A program that reads such records has the magic as a string too, but only a record has
/// the size of pointers after it.
fn scanned(elf: &Elf<'_>, segment: Extent) -> Option<Vec<u8>> {
    const POINTER_BYTES: u8 = 8;
    let mut candidates = 0;
    let found = elf.bytes().find(segment.offset, segment.length, MAGIC, |at| {
        candidates += 1;
        let within = at.checked_sub(segment.offset)?;
        let place = Extent { address: 0, offset: at, length: segment.length.checked_sub(within)? };
        let record = (within % 16 == 0).then(|| beginning(elf, place)).flatten();
        let is_record =
            |record: &Vec<u8>| matches!(record.get(MAGIC.len()..=FLAGS_AT), Some([POINTER_BYTES, flags]) if *flags <= 3);
        record.filter(is_record).map(Some).or((candidates == bounds::CANDIDATES).then_some(None))
    });
    found.flatten()
}

/// The text after a length, which is a varint of one or two bytes.
fn version_text(record: &[u8]) -> Option<String> {
    let strings = record.get(HEADER_BYTES..)?;
    let (length, rest) = match strings {
        [low, rest @ ..] if low & 0x80 == 0 => (usize::from(*low), rest),
        [low, high, rest @ ..] if high & 0x80 == 0 => (usize::from(low & 0x7f) | usize::from(*high) << 7, rest),
        _ => return None,
    };
    let text = rest.get(..length).filter(|text| text.len() <= bounds::GO_VERSION_BYTES)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// N of `go1.N`, `go1.N.P`, `go1.NrcP` and `go1.N.P X:experiment`.
fn minor(text: &str) -> Option<u32> {
    let after = text.strip_prefix("go1.")?;
    let digits = after.find(|found: char| !found.is_ascii_digit()).unwrap_or(after.len());
    after.get(..digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_is_read_from_each_form_of_a_version() {
        let forms = [
            ("go1.18", Some(18)),
            ("go1.27.0", Some(27)),
            ("go1.26rc1", Some(26)),
            ("go1.24.9 X:boringcrypto", Some(24)),
            ("go1.25.5 (Red Hat 1.25.5-1.el9)", Some(25)),
            ("devel go1.28-0123456", None),
            ("go2.1", None),
            ("go1.", None),
            ("", None),
        ];
        for (text, expected) in forms {
            assert_eq!(minor(text), expected, "{text}");
        }
    }

    #[test]
    fn truncated_or_overlong_version_is_rejected() {
        let record = |strings: &[u8]| [&[0; HEADER_BYTES], strings].concat();
        assert_eq!(version_text(&record(b"\x06go1.21rest")).as_deref(), Some("go1.21"));
        assert_eq!(version_text(&record(b"\x07go1.21")), None);
        assert_eq!(version_text(&record(b"\xff\xff\x01")), None);
        assert_eq!(version_text(&record(&[&b"\x81\x04"[..], &[b'x'; 600]].concat())), None);
        assert_eq!(version_text(b"short"), None);
    }
}
