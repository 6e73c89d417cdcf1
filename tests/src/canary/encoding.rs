//! How a secret could stand in a file, and what of it is always the same there.

use std::fmt::Write;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};

use super::huffman::{bits, octets};

/// In what form a secret was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Encoding {
    /// Byte for byte, in whichever case.
    Raw,
    /// With either alphabet, at whichever of the three places in a group.
    Base64,
    /// Two digits a byte, in whichever case.
    Hex,
    /// As `Debug` and JSON show bytes: numbers, or hexadecimal ones, with commas or white space in between.
    Numbers,
    /// Each byte as `%63`, in whichever case.
    Percent,
    /// HPACK's Huffman code, beginning at any bit.
    Huffman,
}

/// What to look for, and where.
#[derive(Debug, Default)]
pub(super) struct Needles {
    /// In the bytes as they are.
    pub(super) exact: Vec<(Encoding, Vec<u8>)>,
    /// In what [`folded`] makes of them.
    pub(super) folded: Vec<(Encoding, Vec<u8>)>,
}

/// What of `secret` stands in any text that holds it, in each encoding.
pub(super) fn needles(secret: &[u8]) -> Needles {
    let mut needles = Needles::default();
    for alignment in 0..3 {
        for alphabet in [&BASE64_STANDARD, &BASE64_URL_SAFE] {
            needles.exact.push((Encoding::Base64, alphabet.encode(in_whole_groups(secret, alignment)).into_bytes()));
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

/// The part of `secret` that is whole groups of three bytes when it begins `alignment` bytes into a group: its code does not depend on what
/// stands around it.
fn in_whole_groups(secret: &[u8], alignment: usize) -> &[u8] {
    let begun = &secret[(3 - alignment) % 3..];
    &begun[..begun.len() / 3 * 3]
}

/// `bytes` in lower case, with one comma for every run of commas and white space: a list that `{:#?}` breaks over lines reads as one.
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

/// The beginning of what was found in, for the reader of a failure.
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
