//! Invariant of CBOR bodies: the re-encoded document gives the same facts as in JSON.

use serde_json::Value;

use super::body::Body;
use super::facts::assert_matches_serde;
use super::json::DOCUMENT;

pub(crate) const MEDIA_TYPE: &str = "application/cbor";

/// Reads the body, and also serde's encoding of it.
pub fn check(input: &[u8]) {
    let Some(body) = Body::of(input, MEDIA_TYPE) else { return };
    body.assert_sound();
    let document: Result<Value, _> = ciborium::from_reader(body.bytes);
    if let (true, Ok(document @ Value::Object(_))) = (body.kind == DOCUMENT, document) {
        assert_matches_serde(&document);
    }
}
