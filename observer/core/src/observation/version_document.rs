//! Reads the version document that a client requested from its API server.

use serde::Deserialize;

use super::request::ResponseLine;
use crate::k8s::{RequestInfo, Verb};
use crate::redacted::Redacted;
use crate::routing::ServerVersion;

/// Maximum length of a document that is kept, in bytes. A real document has about 300 bytes, and is never compressed.
const MAX_DOCUMENT: usize = 4096;

/// The answer to `GET /version` (kubernetes/apimachinery `pkg/version/types.go`, `Info`), as far as it was received.
#[derive(Debug, Default)]
pub(super) struct VersionDocument {
    bytes: Redacted<Vec<u8>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    git_version: String,
}

impl VersionDocument {
    /// An empty document, if the request asks for one.
    pub(super) fn asked_for(info: &RequestInfo) -> Option<Self> {
        (info.verb == Verb::Get && info.non_resource_path == "/version").then(Self::default)
    }

    /// Whether the answer can be read: it is successful, JSON and not compressed.
    pub(super) fn is_in(response: &ResponseLine) -> bool {
        let is_json = response.content_type.as_deref().is_some_and(|content_type| content_type.starts_with("application/json"));
        response.is_success() && is_json && response.content_encoding.is_none()
    }

    /// Takes bytes; `false` when the document exceeds `MAX_DOCUMENT`.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        let fits = self.bytes.0.len() + bytes.len() <= MAX_DOCUMENT;
        if fits {
            self.bytes.0.extend_from_slice(bytes);
        }
        fits
    }

    /// `gitVersion`; `None` when it is absent or not a version.
    pub(super) fn finish(&self) -> Option<ServerVersion> {
        let info: Info = serde_json::from_slice(&self.bytes.0).ok()?;
        info.git_version.parse().ok()
    }
}
