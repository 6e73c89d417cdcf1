//! CBOR of any shape, written in any style.

use proptest::prelude::*;
use serde_json::Value;

use super::json_text::Json;

/// How CBOR is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Byte strings, as kube-apiserver writes all of them; otherwise text strings.
    pub byte_strings: bool,
    /// Strings, arrays and maps without a length; strings in chunks of this length.
    pub chunks_of: Option<usize>,
    /// A tag around each value.
    pub tags: bool,
    /// Minimum number of argument bytes of a head.
    pub wide: u8,
}

/// The tag of self-described CBOR.
const SELF_DESCRIBED: [u8; 3] = [0xd9, 0xd9, 0xf7];

/// The style of kube-apiserver.
pub(super) const KUBERNETES: Style = Style { byte_strings: true, chunks_of: None, tags: false, wide: 0 };

pub(super) fn style() -> impl Strategy<Value = Style> {
    (any::<bool>(), prop::option::of(1_usize..9), any::<bool>(), prop::sample::select([0, 1, 2, 4, 8].as_slice()))
        .prop_map(|(byte_strings, chunks_of, tags, wide)| Style { byte_strings, chunks_of, tags, wide })
}

/// A document in the tag of self-described CBOR.
pub(super) fn document(json: &str) -> Vec<u8> {
    let value: Value = serde_json::from_str(json).unwrap();
    [SELF_DESCRIBED.as_slice(), &bytes(&of(&value), KUBERNETES)].concat()
}

/// A watch with one event per line, each in a tag of its own.
pub(super) fn watch(lines: &str) -> Vec<u8> {
    lines.lines().flat_map(document).collect()
}

pub(super) fn bytes(value: &Json, style: Style) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, style, &mut out);
    out
}

/// serde sorts the members, so their order differs from that of the text.
fn of(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(_) => Json::True,
        Value::Number(number) => Json::Number(number.as_i64().unwrap()),
        Value::String(text) => Json::Text(text.clone()),
        Value::Array(elements) => Json::Array(elements.iter().map(of).collect()),
        Value::Object(members) => Json::Object(members.iter().map(|(name, value)| (name.clone(), of(value))).collect()),
    }
}

fn write(value: &Json, style: Style, out: &mut Vec<u8>) {
    if style.tags {
        head(6, 22, style, out);
    }
    match value {
        Json::Null => out.push(0xf6),
        Json::True => out.push(0xf5),
        Json::Number(number) if *number < 0 => head(1, (-1 - *number).cast_unsigned(), style, out),
        Json::Number(number) => head(0, number.cast_unsigned(), style, out),
        Json::Text(text) => write_string(text, style, out),
        Json::Array(elements) => {
            begin(4, elements.len(), style, out);
            for element in elements {
                write(element, style, out);
            }
            end(style, out);
        }
        Json::Object(members) => {
            begin(5, members.len(), style, out);
            for (name, value) in members {
                write_string(name, style, out);
                if name == "object" {
                    out.extend(SELF_DESCRIBED);
                }
                write(value, style, out);
            }
            end(style, out);
        }
    }
}

fn write_string(text: &str, style: Style, out: &mut Vec<u8>) {
    let major = if style.byte_strings { 2 } else { 3 };
    let Some(length) = style.chunks_of else {
        head(major, text.len() as u64, style, out);
        return out.extend(text.as_bytes());
    };
    out.push(major << 5 | 31);
    for chunk in text.as_bytes().chunks(length) {
        head(major, chunk.len() as u64, style, out);
        out.extend(chunk);
    }
    out.push(0xff);
}

fn begin(major: u8, length: usize, style: Style, out: &mut Vec<u8>) {
    match style.chunks_of {
        Some(_) => out.push(major << 5 | 31),
        None => head(major, length as u64, style, out),
    }
}

fn end(style: Style, out: &mut Vec<u8>) {
    if style.chunks_of.is_some() {
        out.push(0xff);
    }
}

fn head(major: u8, argument: u64, style: Style, out: &mut Vec<u8>) {
    let bytes = argument.to_be_bytes();
    let needed = match argument {
        0..24 => 0,
        24..0x100 => 1,
        0x100..0x1_0000 => 2,
        0x1_0000..0x1_0000_0000 => 4,
        _ => 8,
    };
    let width = style.wide.max(needed);
    let low = match width {
        0 => bytes[7],
        1 => 24,
        2 => 25,
        4 => 26,
        _ => 27,
    };
    out.push(major << 5 | low);
    out.extend(&bytes[8 - usize::from(width)..]);
}
