//! Converts a message to the JSON object that it represents.
//!
//! The recursion is bounded, because no table of messages contains itself. The size of the result is proportional to that of the
//! body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::error::Error;
use super::scalar;
use super::shape::{Field, Message, Shape};
use super::wire::{Fields, Malformed, Wire};

/// The JSON object of a message.
pub(super) fn object(message: &'static Message, bytes: &[u8]) -> Result<Map<String, Value>, Error> {
    let mut object = Map::new();
    write(message, bytes, &mut object)?;
    Ok(object)
}

fn write(message: &'static Message, bytes: &[u8], object: &mut Map<String, Value>) -> Result<(), Error> {
    let malformed = |what| Error::Malformed { message: message.name, what };
    for field in Fields::of(bytes) {
        let (number, wire) = field.map_err(malformed)?;
        let field = message.field(number).ok_or(Error::UnknownField { message: message.name, number })?;
        if let Shape::Inline(inner) = &field.shape {
            write(inner, length_delimited(wire).map_err(malformed)?, object)?;
        } else if let Shape::Many(of) = &field.shape {
            let element = value(of, message, wire)?;
            let list = object.entry(field.json).or_insert_with(|| Value::Array(Vec::new()));
            list.as_array_mut().ok_or_else(|| malformed(TWICE))?.push(element);
        } else if let Shape::Map(of) = &field.shape {
            let (key, entry) = map_entry(of, message, wire)?;
            let entries = object.entry(field.json).or_insert_with(|| Value::Object(Map::new()));
            entries.as_object_mut().ok_or_else(|| malformed(TWICE))?.insert(key, entry);
        } else {
            let value = value(&field.shape, message, wire)?;
            // A field that occurs twice would have to be merged. No client sends that.
            if !is_left_out(field, &value) && object.insert(field.json.to_owned(), value).is_some() {
                return Err(malformed(TWICE));
            }
        }
    }
    Ok(())
}

const TWICE: &str = "a field that is no list occurs twice";

/// Whether `omitempty` omits the value in JSON.
fn is_left_out(field: &Field, value: &Value) -> bool {
    match (&field.shape, value) {
        // The zero value of a time or a quantity is an empty message.
        (_, Value::Null) => true,
        (Shape::Text | Shape::Quantity, Value::String(text)) => text.is_empty(),
        (Shape::Int | Shape::IntOrString, Value::Number(number)) => number.as_i64() == Some(0),
        (Shape::Flag, Value::Bool(flag)) => !flag,
        _other => false,
    }
}

fn value(shape: &'static Shape, message: &'static Message, wire: Wire<'_>) -> Result<Value, Error> {
    let value = match (shape, wire) {
        (Shape::Text | Shape::AnyText, Wire::Bytes(bytes)) => text(bytes).map(Value::from),
        // Numbers are signed, of 32 or 64 bits. Both are encoded as 64 bits.
        (Shape::Int | Shape::AnyInt, Wire::Varint(number)) => Ok(Value::from(number.cast_signed())),
        (Shape::Flag | Shape::AnyFlag, Wire::Varint(number)) => Ok(Value::from(number != 0)),
        (Shape::Bytes, Wire::Bytes(bytes)) => Ok(Value::from(STANDARD.encode(bytes))),
        (Shape::Quantity, Wire::Bytes(bytes)) => scalar::quantity(bytes),
        (Shape::IntOrString | Shape::AnyIntOrString, Wire::Bytes(bytes)) => scalar::int_or_string(bytes),
        (Shape::Time, Wire::Bytes(bytes)) => scalar::time(bytes),
        (Shape::MicroTime, Wire::Bytes(bytes)) => scalar::micro_time(bytes),
        (Shape::RawJson, Wire::Bytes(bytes)) => scalar::raw_json(bytes),
        (Shape::One(inner), Wire::Bytes(bytes)) => return object(inner, bytes).map(Value::Object),
        // No table has lists of lists, or inline messages except as fields.
        (Shape::Inline(_) | Shape::Many(_) | Shape::Map(_), _) => Err("a list stands in a list"),
        (_, Wire::Varint(_) | Wire::Bytes(_)) => Err("a field has the wrong wire type"),
    };
    value.map_err(|what| Error::Malformed { message: message.name, what })
}

/// A map is encoded as a list of messages with a key (1) and a value (2).
fn map_entry(of: &'static Shape, message: &'static Message, wire: Wire<'_>) -> Result<(String, Value), Error> {
    let malformed = |what| Error::Malformed { message: message.name, what };
    let (mut key, mut entry) = (String::new(), None);
    for field in Fields::of(length_delimited(wire).map_err(malformed)?) {
        match field.map_err(malformed)? {
            (1, Wire::Bytes(bytes)) => key = String::from(text(bytes).map_err(malformed)?),
            (2, wire) => entry = Some(value(of, message, wire)?),
            _other => return Err(malformed("an entry of a map has more than a key and a value")),
        }
    }
    Ok((key, entry.unwrap_or_else(|| Value::from(""))))
}

fn length_delimited(wire: Wire<'_>) -> Result<&[u8], Malformed> {
    match wire {
        Wire::Bytes(bytes) => Ok(bytes),
        Wire::Varint(_) => Err("a message has the wrong wire type"),
    }
}

fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    str::from_utf8(bytes).map_err(|_invalid| "a text is not UTF-8")
}
