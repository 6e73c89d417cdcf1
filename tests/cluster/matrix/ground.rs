//! What the blanks of requests are filled with.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;

use super::resource::Resource;

/// Above all revisions that a test reaches.
const FUTURE: u64 = 900_000_000;

/// The first revision after an empty etcd's: the server writes something of its own.
pub(super) const OLD: u64 = 2;

/// A revision and the token of a page at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ground {
    /// Was current when the tap saw it, and is not current any more; or is below the present revision and was not seen.
    pub(super) revision: u64,
    /// Of a list of which the first page ends behind the third object; empty where there is none.
    pub(super) token: String,
}

impl Ground {
    /// The query with its blanks filled.
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

/// As the token that comes with a 410 (kubernetes/apiserver `pkg/storage/continue.go`): a negative revision.
fn token_at_the_latest() -> String {
    let token = json!({"v": "meta.k8s.io/v1", "rv": -1, "start": format!("default/{}\0", Resource::object_name(2))});
    BASE64_URL_SAFE_NO_PAD.encode(token.to_string())
}
