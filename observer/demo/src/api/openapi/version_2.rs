//! `/openapi/v2`: a valid but empty document.
//!
//! kubectl before 1.29 requests it in protobuf before version 3, and fails if it does not exist; newer ones do not request it. If
//! it is empty, they find nothing in it and continue with version 3 (tried with `apply`, `explain` and `create` of 1.27).

use bytes::Bytes;
use serde_json::json;

use super::super::accept;
use super::super::answer::{Answer, JSON};

const ASKED: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
/// The server answers with a media type that has a dot in place of the `@`, which Go's parser refuses.
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// The gnostic message `openapi.v2.Document` with its first field, `swagger`.
const DOCUMENT: &[u8] = b"\x0a\x032.0";

/// The document, in the requested form.
pub(super) fn answer(accept: &str) -> Answer {
    let chosen = accept::clauses(accept).into_iter().find_map(|clause| {
        if clause.is(ASKED) || clause.is(PROTOBUF) {
            return Some(Answer { status: 200, content_type: PROTOBUF, body: Bytes::from_static(DOCUMENT) });
        }
        let document =
            json!({"swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.34.0"}, "paths": {}, "definitions": {}});
        clause.takes_json().then(|| Answer::document(JSON, &document))
    });
    chosen.unwrap_or(Answer { status: 406, content_type: JSON, body: Bytes::new() })
}
