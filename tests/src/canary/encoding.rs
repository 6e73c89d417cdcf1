//! The ways to encode a secret, and the bytes that each encoding always contains.

use std::fmt::Write;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};

use super::huffman::{bits, octets};

/// The form in which a secret was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Encoding {
    /// Byte for byte, in either case.
    Raw,
    /// In either alphabet, at each of the three alignments.
    Base64,
    /// Two digits per byte, in either case.
    Hex,
    /// As `Debug` and JSON print bytes: decimal or hexadecimal numbers, separated by commas or white space.
    Numbers,
    /// Each byte as `%63`, in either case.
    Percent,
    /// HPACK's Huffman code, starting at any bit.
    Huffman,
}

/// The byte strings to search for, by kind of text.
#[derive(Debug, Default)]
pub(super) struct Needles {
    /// Searched in the unchanged bytes.
    pub(super) exact: Vec<(Encoding, Vec<u8>)>,
    /// Searched in the output of [`folded`].
    pub(super) folded: Vec<(Encoding, Vec<u8>)>,
}

/// The byte strings that any text with `secret` contains, for each encoding.
pub(super) fn needles(secret: &[u8]) -> Needles {
    let mut needles = Needles::default();
    for alignment in 0..3 {
        for alphabet in [&BASE64_STANDARD, &BASE64_URL_SAFE] {
            needles.exact.push((Encoding::Base64, alphabet.encode(in_complete_groups(secret, alignment)).into_bytes()));
        }
    }
    let bits = bits(secret);
    needles.exact.extend((0..8).map(|first| (Encoding::Huffman, octets(&bits[first..]))));

    let of_each = |one: fn(u8) -> String, between: &str| secret.iter().map(|byte| one(*byte)).collect::<Vec<_>>().join(between);
    for (encoding, text) in [
        (Encoding::Hex, of_each(|byte| format!("{byte:02x}"), "")),
        (Encoding::Percent, of_each(|byte| format!("%{byte:02x}"), "")),
        (Encoding::Numbers, of_each(|byte| byte.to_string(), ",")),
        (Encoding::Numbers, of_each(|byte| format!("{byte:02x}"), ",")),
        (Encoding::Numbers, of_each(|byte| format!("0x{byte:02x}"), ",")),
    ] {
        needles.folded.push((encoding, text.into_bytes()));
    }
    needles.folded.push((Encoding::Raw, folded(secret)));
    needles
}

/// The three-byte groups within `secret` if it starts `alignment` bytes into a group: their base64 code does not depend on the
/// surrounding bytes.
fn in_complete_groups(secret: &[u8], alignment: usize) -> &[u8] {
    let begun = &secret[(3 - alignment) % 3..];
    &begun[..begun.len() / 3 * 3]
}

/// `bytes` in lower case, with one comma for each run of commas and white space. So a list that `{:#?}` breaks over lines becomes
/// one line.
pub(super) fn folded(bytes: &[u8]) -> Vec<u8> {
    let mut folded = Vec::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b',' | b' ' | b'\n' | b'\r' | b'\t' if folded.last() == Some(&b',') => {}
            b',' | b' ' | b'\n' | b'\r' | b'\t' => folded.push(b','),
            other => folded.push(other.to_ascii_lowercase()),
        }
    }
    folded
}

/// The bytes around `at`, printable, for failure messages.
pub(super) fn excerpt(bytes: &[u8], at: usize) -> String {
    const AROUND: usize = 60;
    let around = &bytes[at.saturating_sub(AROUND)..bytes.len().min(at + AROUND)];
    let mut text = String::new();
    for byte in around {
        match byte {
            b' '..=b'~' => text.push(char::from(*byte)),
            other => write!(text, "\\x{other:02x}").unwrap_or_default(),
        }
    }
    text
}
