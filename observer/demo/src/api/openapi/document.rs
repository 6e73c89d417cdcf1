//! The documents of `/openapi/v3`, an index and one document per group and version, and the document of `/openapi/v2`.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::super::accept::{self, Clause};
use super::super::answer::{Answer, JSON};
use super::super::resource::{Resource, resources};
use super::{paths, schemas, version_2};

/// By the path below `/openapi/v3/`, such as `apis/apps/v1`.
pub(super) static DOCUMENTS: LazyLock<BTreeMap<String, Bytes>> = LazyLock::new(documents);

/// Answers `/openapi/v3`, the documents in its index, and `/openapi/v2`; `None` for other paths.
///
/// `path` has no query: the hash that the index adds is for caches. Like a real server, it answers 406 without a body if JSON is
/// not acceptable. It does not serve version 3 in protobuf, which kubectl does not request. The first call makes all documents,
/// just under a megabyte, and keeps them.
#[must_use]
pub fn answer(path: &str, accept: &str) -> Option<Answer> {
    if path == "/openapi/v2" {
        return Some(version_2::answer(accept));
    }
    let path = path.strip_prefix("/openapi/v3")?.trim_end_matches('/');
    let (content_type, body) = match path.strip_prefix('/') {
        None if path.is_empty() => ("text/plain; charset=utf-8", Bytes::from(index().to_string())),
        Some(name) => (JSON, DOCUMENTS.get(name)?.clone()),
        None => return None,
    };
    // The index is not negotiated.
    let acceptable = path.is_empty() || accept::clauses(accept).iter().any(Clause::takes_json);
    Some(if acceptable {
        Answer { status: 200, content_type, body }
    } else {
        Answer { status: 406, content_type, body: Bytes::new() }
    })
}

fn index() -> Value {
    let paths: Map<String, Value> = DOCUMENTS.iter().map(|(name, body)| (name.clone(), index_entry(name, body))).collect();
    json!({"paths": paths})
}

fn index_entry(name: &str, body: &Bytes) -> Value {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    json!({"serverRelativeURL": format!("/openapi/v3/{name}?hash={:016X}", hasher.finish())})
}

fn documents() -> BTreeMap<String, Bytes> {
    let mut by_name: BTreeMap<String, Vec<&Resource>> = BTreeMap::new();
    for resource in resources() {
        let root = if resource.group.is_empty() { "api" } else { "apis" };
        by_name.entry(format!("{root}/{}", resource.api_version())).or_default().push(resource);
    }
    by_name.into_iter().map(|(name, resources)| (name, Bytes::from(document(&resources).to_string()))).collect()
}

fn document(resources: &[&Resource]) -> Value {
    let paths: Map<String, Value> = resources.iter().flat_map(|resource| paths::of(resource)).collect();
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.34.0"},
        "paths": paths,
        "components": {"schemas": schemas::used_by(resources)},
    })
}
