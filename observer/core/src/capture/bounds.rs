//! Checks the bounds of a line before any part of it is kept.
//!
//! A tap's decoder cuts each text when it reads it, so watchtap never records a text beyond its bound. A file from another source
//! may contain one. The bounds are those of the types that the members belong to. A line beyond a bound is rejected with a reason
//! and not truncated: a truncated text would be a different text. Members that this version does not know have no bound, because
//! they are skipped.

use crate::http::{HeaderName, Identity};
use crate::k8s::{ContinueToken, ListOptions, RequestInfo, Status};
use crate::observation::{BodyNotRead, MAX_UNIT, UpstreamName, WORDS};
use crate::wire::{ListMeta, ObjectRef};

/// Maximum number of values in one line. An event has fewer than 64; a batch has up to 1 024 events in 128 KiB.
const MAX_VALUES: usize = 1 << 16;
/// The longest text in an array whose member has no bound, in bytes. Some structures are written as arrays of their fields.
const ELEMENT: usize = RequestInfo::MAX_NAME;
/// Bound of container IDs, pod UIDs, methods and other short texts, in bytes.
const SHORT: usize = 128;

/// The longest text of each member, in bytes. Where two types have a member of the same name, the larger bound applies.
const TEXTS: &[(&[u8], usize)] = &[
    (b"accept", HeaderName::MAX_VALUE),
    (b"act", WORDS),
    (b"aggregated", RequestInfo::MAX_NAME),
    (b"audit_id", HeaderName::MAX_VALUE),
    (b"container_name", SHORT),
    (b"content-coding", HeaderName::MAX_VALUE),
    (b"content_encoding", HeaderName::MAX_VALUE),
    (b"content_type", HeaderName::MAX_VALUE),
    (b"continue", ListMeta::MAX_CONTINUE),
    (b"field", Status::MAX_TEXT),
    (b"field_selector", ListOptions::MAX_SELECTOR),
    (b"file", WORDS),
    (b"flow_schema_uid", HeaderName::MAX_VALUE),
    (b"group", RequestInfo::MAX_NAME),
    (b"id", SHORT),
    (b"kind", ObjectRef::MAX_TEXT),
    (b"kubectl_command", HeaderName::MAX_VALUE),
    (b"label_selector", ListOptions::MAX_SELECTOR),
    (b"media-type", BodyNotRead::MAX_MEDIA_TYPE),
    (b"message", Status::MAX_TEXT),
    (b"method", SHORT),
    (b"name", RequestInfo::MAX_NAME),
    (b"namespace", RequestInfo::MAX_NAME),
    (b"non_resource_path", RequestInfo::MAX_PATH),
    (b"note", WORDS),
    (b"pod_uid", SHORT),
    (b"priority_level_uid", HeaderName::MAX_VALUE),
    (b"protocol", SHORT),
    (b"reason", Status::MAX_TEXT),
    (b"resource", RequestInfo::MAX_NAME),
    (b"resource_version", ObjectRef::MAX_TEXT),
    (b"shard_selector", ListOptions::MAX_SELECTOR),
    (b"start_key", ContinueToken::MAX_TOKEN),
    (b"status", Status::MAX_TEXT),
    (b"subject", Identity::MAX_SUBJECT),
    (b"subresource", RequestInfo::MAX_NAME),
    (b"traceparent", SHORT),
    (b"uid", ObjectRef::MAX_TEXT),
    (b"uncached", RequestInfo::MAX_NAME),
    (b"unit", MAX_UNIT),
    (b"upstream", UpstreamName::MAX_LENGTH),
    (b"user_agent", HeaderName::MAX_VALUE),
    (b"version", RequestInfo::MAX_NAME),
    (b"what", SHORT),
    (b"why", WORDS),
];

/// A line exceeds a bound and is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfBounds;

/// Checks the texts of a line, and the number of its values. A line that is not JSON may pass, but nothing of it is kept.
pub(super) fn check(line: &[u8]) -> Result<(), OutOfBounds> {
    let mut rest = line;
    let mut values = 0_usize;
    // Elements of an array have the bound of the member that holds the array.
    let mut most = None;
    let mut is_of_member = false;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'"' => {
                let text = Text::at(rest);
                rest = rest.get(text.end..).unwrap_or_default();
                if rest.trim_ascii_start().first() == Some(&b':') {
                    most = bound(after.get(..text.end.saturating_sub(1)).unwrap_or_default())?;
                } else if most.or((!is_of_member).then_some(ELEMENT)).is_some_and(|most| text.length > most) {
                    return Err(OutOfBounds);
                }
            }
            b':' => is_of_member = true,
            b',' | b'[' | b'{' => {
                values += 1;
                is_of_member = false;
            }
            _ => {}
        }
    }
    if values <= MAX_VALUES { Ok(()) } else { Err(OutOfBounds) }
}

/// The bound of a member; `None` for an unknown one. An escaped name is rejected: no known member needs an escape.
fn bound(member: &[u8]) -> Result<Option<usize>, OutOfBounds> {
    if member.contains(&b'\\') {
        return Err(OutOfBounds);
    }
    Ok(TEXTS.iter().find(|(name, _)| *name == member).map(|(_, most)| *most))
}

/// A JSON string, after its opening quotation mark.
struct Text {
    /// Offset after its closing quotation mark.
    end: usize,
    /// Length of the unescaped text, in bytes.
    length: usize,
}

impl Text {
    fn at(bytes: &[u8]) -> Self {
        let (mut at, mut length) = (0, 0);
        loop {
            let plain = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default());
            let Some(plain) = plain else { return Self { end: bytes.len(), length: length + (bytes.len() - at.min(bytes.len())) } };
            at += plain;
            length += plain;
            if bytes.get(at) == Some(&b'"') {
                return Self { end: at + 1, length };
            }
            let (taken, meant) = escape(bytes.get(at..).unwrap_or_default());
            at += taken;
            length += meant;
        }
    }
}

/// Length of an escape, and of the text it stands for, in bytes. A surrogate counts 2, half of a character of 4 bytes.
fn escape(bytes: &[u8]) -> (usize, usize) {
    let code = bytes.get(2..6).filter(|_| bytes.get(1) == Some(&b'u'));
    let code = code.and_then(|digits| u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
    match code {
        None => (2, 1),
        Some(0..0x80) => (6, 1),
        Some(0x80..0x800 | 0xd800..0xe000) => (6, 2),
        Some(0x800..=0xffff) => (6, 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_members_are_limited_by_their_types() {
        for (name, most) in TEXTS {
            let name = str::from_utf8(name).unwrap();
            for (text, length) in [("x", 1), ("\\u0041", 1), ("\\\"", 1), ("\\ud83d\\ude00", 4), ("\\u20ac", 3), ("\\u00e9", 2)] {
                let line = |times: usize| format!(r#"{{"a":{{"{name}":"{}","b":1}}}}"#, text.repeat(times));
                assert_eq!(check(line(most / length).as_bytes()), Ok(()), "{name}");
                assert_eq!(check(line(most / length + 1).as_bytes()), Err(OutOfBounds), "{name}");
                let array = format!(r#"{{"{name}":["", "{}"]}}"#, text.repeat(most / length + 1));
                assert_eq!(check(array.as_bytes()), Err(OutOfBounds), "{name}");
            }
        }
    }

    #[test]
    fn elements_of_structures_encoded_as_arrays_are_limited() {
        let long = "x".repeat(ELEMENT + 1);
        for line in [format!(r#"{{"request":["GET",["get",["","v1","{long}"]]]}}"#), format!(r#"{{"list":["{long}"]}}"#)] {
            assert_eq!(check(line.as_bytes()), Err(OutOfBounds), "{}", &line[..30]);
            assert_eq!(check(line.replace(&long, &long[1..]).as_bytes()), Ok(()), "{}", &line[..30]);
        }
    }

    #[test]
    fn escaped_or_spaced_member_names_do_not_bypass_limits() {
        let long = "x".repeat(1 << 16);
        for disguised in [format!(r#"{{"n\u0061me":"{long}"}}"#), format!("{{\"name\" \t: \"{long}\"}}")] {
            assert_eq!(check(disguised.as_bytes()), Err(OutOfBounds), "{}", &disguised[..20]);
        }
    }

    #[test]
    fn unknown_members_have_no_length_limit() {
        let line = format!(r#"{{"mood":"{0}","of":[{{"the":"{0}"}}]}}"#, "x".repeat(100_000));
        assert_eq!(check(line.as_bytes()), Ok(()));
    }

    #[test]
    fn values_per_line_are_limited_outside_strings() {
        let line = |elements: usize| format!(r#"{{"items":[{}]}}"#, vec!["{}"; elements].join(","));
        assert_eq!(check(line(MAX_VALUES / 3).as_bytes()), Ok(()));
        assert_eq!(check(line(MAX_VALUES).as_bytes()), Err(OutOfBounds));
        assert_eq!(check(format!(r#"{{"mood":"{}"}}"#, ",".repeat(MAX_VALUES + 9)).as_bytes()), Ok(()));
    }
}
