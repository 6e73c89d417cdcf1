//! The answer to a request for a document: status, content type, body.

use bytes::Bytes;
use serde_json::{Value, json};

/// The answer to a GET of a document that does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The media type of the body.
    pub content_type: &'static str,
    /// The body: one document.
    pub body: Bytes,
}

pub(super) const JSON: &str = "application/json";

impl Answer {
    pub(super) fn document(content_type: &'static str, document: &Value) -> Self {
        Self { status: 200, content_type, body: Bytes::from(document.to_string()) }
    }

    /// No clause of the `Accept` field can be served.
    pub(super) fn not_acceptable() -> Self {
        let status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "406: Not Acceptable\n\nAvailable representations: application/json",
            "reason": "NotAcceptable",
            "details": {},
            "code": 406,
        });
        Self { status: 406, ..Self::document(JSON, &status) }
    }
}
