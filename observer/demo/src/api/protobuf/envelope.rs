//! The envelope: four bytes, and a `runtime.Unknown` with kind, version and the object's message.
//!
//! kubernetes/apimachinery pkg/runtime/{generated.proto, serializer/protobuf/protobuf.go} v0.34.

use serde_json::{Map, Value};

use super::decode;
use super::error::Error;
use super::messages::{self, Body};
use super::wire::{Fields, Malformed, Wire};

/// The media type of bodies for [`to_json`].
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

const MAGIC: &[u8] = b"k8s\0";

/// The object in a body as JSON. It has the envelope's `kind` and `apiVersion`, which the caller must check.
///
/// The caller must bound the length of the body; time and memory are proportional to it.
///
/// # Errors If the body is not protobuf of this kind, or contains a field that the demo would lose.
pub fn to_json(body: Body, bytes: &[u8]) -> Result<Value, Error> {
    let bytes = bytes.strip_prefix(MAGIC).ok_or(Error::NoMagic)?;
    if bytes.is_empty() {
        return Err(Error::Malformed { message: "Unknown", what: "there is none" });
    }
    let envelope = Envelope::read(bytes).map_err(|what| Error::Malformed { message: "Unknown", what })?;
    if !envelope.encoding.is_empty() || !matches!(envelope.content_type, b"" | b"application/vnd.kubernetes.protobuf") {
        return Err(Error::Unsupported("an object in another encoding".to_owned()));
    }
    let message = messages::of(body).ok_or_else(|| Error::Unsupported(envelope.kind.to_owned()))?;
    let mut object = Map::new();
    for (field, text) in [("kind", envelope.kind), ("apiVersion", envelope.api_version)] {
        if !text.is_empty() {
            object.insert(field.to_owned(), text.into());
        }
    }
    object.extend(decode::object(message, envelope.object)?);
    Ok(Value::Object(object))
}

#[derive(Default)]
struct Envelope<'b> {
    api_version: &'b str,
    kind: &'b str,
    object: &'b [u8],
    encoding: &'b [u8],
    content_type: &'b [u8],
}

impl<'b> Envelope<'b> {
    fn read(bytes: &'b [u8]) -> Result<Self, Malformed> {
        let mut envelope = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, Wire::Bytes(type_meta)) => envelope.read_type(type_meta)?,
                (2, Wire::Bytes(object)) => envelope.object = object,
                (3, Wire::Bytes(encoding)) => envelope.encoding = encoding,
                (4, Wire::Bytes(content_type)) => envelope.content_type = content_type,
                _other => return Err("the envelope has an unknown field"),
            }
        }
        Ok(envelope)
    }

    fn read_type(&mut self, bytes: &'b [u8]) -> Result<(), Malformed> {
        let text = |bytes: &'b [u8]| str::from_utf8(bytes).map_err(|_invalid| "the kind is not UTF-8");
        for field in Fields::of(bytes) {
            match field? {
                (1, Wire::Bytes(api_version)) => self.api_version = text(api_version)?,
                (2, Wire::Bytes(kind)) => self.kind = text(kind)?,
                _other => return Err("the kind has an unknown field"),
            }
        }
        Ok(())
    }
}
