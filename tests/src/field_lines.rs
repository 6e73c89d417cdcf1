//! Computes, without the HPACK decoder, the field line that the decoder must keep of a header field.

use observer_core::http::hpack::{FieldLine, Name, Value};
use observer_core::http::{HeaderName, Identity, Target, TraceParent};

/// The methods that HTTP defines (RFC 9110 §9.3 and RFC 5789).
const METHODS: [&[u8]; 9] = [b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"CONNECT", b"OPTIONS", b"TRACE", b"PATCH"];

/// The field line that a decoder keeps of a field when it has seen the complete connection.
pub fn field_line(name: &[u8], value: &[u8]) -> FieldLine {
    let kept_name = match name {
        b":method" => Name::Method,
        b":path" => Name::Path,
        b":status" => Name::Status,
        b":scheme" | b":authority" | b":protocol" => Name::OtherPseudo,
        b"authorization" => Name::Authorization,
        b"traceparent" => Name::TraceParent,
        _ => HeaderName::of(name).map_or(Name::OffList, Name::Listed),
    };
    let kept_value = match kept_name {
        Name::Method if METHODS.contains(&value) => Value::Text(value.into()),
        Name::Method => Value::Text((*b"OTHER").into()),
        Name::Listed(_) => Value::Text(prefix(value, 1024)),
        Name::Path => Value::Target(Box::new(Target::parse(value))),
        Name::Status => status(value).map_or(Value::Unknown, Value::Status),
        Name::Authorization => Value::Identity(Box::new(Identity::from_authorization(value))),
        Name::TraceParent => TraceParent::parse(value).map_or(Value::Unknown, |valid| Value::TraceParent(Box::new(valid))),
        Name::OtherPseudo | Name::OffList | Name::Unknown => Value::NotKept,
    };
    FieldLine { name: kept_name, name_length: length(name), value: kept_value, value_length: length(value) }
}

fn prefix(value: &[u8], length: usize) -> Box<[u8]> {
    value.iter().take(length).copied().collect()
}

fn status(value: &[u8]) -> Option<u16> {
    str::from_utf8(value).ok()?.parse().ok()
}

fn length(bytes: &[u8]) -> Option<u32> {
    u32::try_from(bytes.len()).ok()
}
