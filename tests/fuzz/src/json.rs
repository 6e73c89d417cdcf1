//! Invariant of JSON bodies: the reader accepts everything that serde accepts, and finds the items that serde reads.

use observer_core::wire::{BodyKind, Fact};
use serde_json::Value;

use super::body::Body;
use super::facts::{assert_matches_serde, is_complete};

pub(crate) const MEDIA_TYPE: &str = "application/json";
pub(crate) const DOCUMENT: BodyKind = BodyKind::Document;

/// Reads the body, and also serde's encoding of it.
pub fn check(input: &[u8]) {
    let Some(body) = Body::of(input, MEDIA_TYPE) else { return };
    body.assert_sound();
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(body.bytes).into_iter().collect();
    let Ok(values) = values else { return };
    let facts = body.facts();
    match (body.kind, values.as_slice()) {
        (BodyKind::Document, [document @ Value::Object(_)]) => {
            assert!(is_complete(&facts), "serde reads the document: {facts:?}");
            assert_matches_serde(document);
        }
        (BodyKind::Watch, events) if events.iter().all(Value::is_object) => {
            let frames = facts.iter().filter(|fact| matches!(fact, Fact::Frame(_))).count();
            assert_eq!((frames, facts.len()), (events.len(), events.len()), "serde reads the events: {facts:?}");
        }
        (BodyKind::Document | BodyKind::Watch | BodyKind::Messages, _) => {}
    }
}
