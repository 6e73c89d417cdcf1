//! Values for the placeholders of requests.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;

use super::resource::Resource;

/// A revision that no test reaches.
const FUTURE: u64 = 900_000_000;

/// The first revision after that of an empty etcd: a write of the server itself.
pub(super) const OLD: u64 = 2;

/// A revision, and the continue token of a page at that revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ground {
    /// A revision that is no longer current. watchtap saw it when it was current, or never saw it.
    pub(super) revision: u64,
    /// From a list whose first page ends after the third object; empty if there is none.
    pub(super) token: String,
}

impl Ground {
    /// The query with values for its placeholders.
    pub(super) fn fill(&self, query: &str) -> String {
        query
            .replace("{n}", &self.revision.to_string())
            .replace("{old}", &OLD.to_string())
            .replace("{future}", &FUTURE.to_string())
            .replace("{token}", &self.token)
            .replace("{latest}", &token_at_the_latest())
            .replace("{name}", &Resource::object_name(0))
    }
}

/// Like the token of a 410 response (kubernetes/apiserver `pkg/storage/continue.go`): a negative revision.
fn token_at_the_latest() -> String {
    let token = json!({"v": "meta.k8s.io/v1", "rv": -1, "start": format!("default/{}\0", Resource::object_name(2))});
    BASE64_URL_SAFE_NO_PAD.encode(token.to_string())
}
