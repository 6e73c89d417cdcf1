//! Values that are messages in protobuf and scalars in JSON.
//!
//! Sources: kubernetes/apimachinery pkg/apis/meta/v1, pkg/util/intstr and pkg/api/resource, generated.proto and the marshalling
//! beside it, v0.34.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::wire::{Fields, Malformed, Wire};

/// The text of a quantity; null if the message is empty.
pub(super) fn quantity(bytes: &[u8]) -> Result<Value, Malformed> {
    let mut value = Value::Null;
    for field in Fields::of(bytes) {
        match field? {
            (1, Wire::Bytes(text)) => value = text_of(text)?,
            _other => return Err("a quantity has an unknown field"),
        }
    }
    Ok(value)
}

/// A number, or a text if the type (1) is a string.
pub(super) fn int_or_string(bytes: &[u8]) -> Result<Value, Malformed> {
    let (mut is_text, mut number, mut text) = (false, 0, Value::from(""));
    for field in Fields::of(bytes) {
        match field? {
            (1, Wire::Varint(kind)) => is_text = kind == 1,
            (2, Wire::Varint(value)) => number = value.cast_signed(),
            (3, Wire::Bytes(value)) => text = text_of(value)?,
            _other => return Err("a number or text has an unknown field"),
        }
    }
    Ok(if is_text { text } else { Value::from(number) })
}

/// A time to the second, as RFC 3339 text; null if the message is empty.
pub(super) fn time(bytes: &[u8]) -> Result<Value, Malformed> {
    let Some(time) = timestamp(bytes)? else { return Ok(Value::Null) };
    Ok(Value::from(humantime::format_rfc3339_seconds(time).to_string()))
}

/// A time to the microsecond, as RFC 3339 text; null if the message is empty.
pub(super) fn micro_time(bytes: &[u8]) -> Result<Value, Malformed> {
    let Some(time) = timestamp(bytes)? else { return Ok(Value::Null) };
    Ok(Value::from(humantime::format_rfc3339_micros(time).to_string()))
}

/// The JSON of `FieldsV1`; null if the message is empty.
pub(super) fn raw_json(bytes: &[u8]) -> Result<Value, Malformed> {
    let mut value = Value::Null;
    for field in Fields::of(bytes) {
        match field? {
            (1, Wire::Bytes(json)) => value = serde_json::from_slice(json).map_err(|_invalid| "a field holds no JSON")?,
            _other => return Err("a field with JSON has an unknown field"),
        }
    }
    Ok(value)
}

fn timestamp(bytes: &[u8]) -> Result<Option<SystemTime>, Malformed> {
    /// 9999-12-31T23:59:59Z, the last time that RFC 3339 can express.
    const LATEST: u64 = 253_402_300_799;
    if bytes.is_empty() {
        return Ok(None);
    }
    let (mut seconds, mut nanoseconds) = (0, 0);
    for field in Fields::of(bytes) {
        match field? {
            (1, Wire::Varint(value)) => seconds = value,
            (2, Wire::Varint(value)) => nanoseconds = value,
            _other => return Err("a time has an unknown field"),
        }
    }
    // Times before 1970 are negative numbers, which are very large here because they are read as unsigned.
    let nanoseconds = u32::try_from(nanoseconds).ok().filter(|nanoseconds| *nanoseconds < 1_000_000_000);
    let (Some(nanoseconds), 0..=LATEST) = (nanoseconds, seconds) else { return Err("a time lies outside of 1970 to 9999") };
    Ok(SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds)))
}

fn text_of(bytes: &[u8]) -> Result<Value, Malformed> {
    str::from_utf8(bytes).map(Value::from).map_err(|_invalid| "a text is not UTF-8")
}
