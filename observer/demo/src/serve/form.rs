//! The form in which objects are sent: complete, or only their metadata.
//!
//! kubernetes/apiserver pkg/endpoints/handlers/{response.go, negotiation} v0.34. The demo sends only JSON, and no Tables: kubectl then
//! prints names and ages.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::api::Resource;
use crate::read::Page;
use crate::refusal::Refusal;
use crate::store::Object;

/// The form that `Accept` requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Complete objects.
    Plain,
    /// `PartialObjectMetadata`.
    Metadata,
}

impl Form {
    /// The form of the first accepted media type that the demo supports.
    pub(super) fn negotiate(accept: &str) -> Result<Self, Refusal> {
        if accept.trim().is_empty() {
            return Ok(Self::Plain);
        }
        let found = accept.split(',').find_map(|media_type| {
            let mut parts = media_type.split(';').map(str::trim);
            let is_json = matches!(parts.next()?, "application/json" | "*/*" | "application/*");
            let target = parts.find_map(|parameter| parameter.strip_prefix("as="));
            match (is_json, target) {
                (true, None) => Some(Self::Plain),
                (true, Some("PartialObjectMetadata" | "PartialObjectMetadataList")) => Some(Self::Metadata),
                (true, Some(_)) | (false, _) => None,
            }
        });
        found.ok_or_else(Refusal::not_acceptable)
    }

    /// The body for one object.
    pub(super) fn object(self, resource: &Resource, object: &Object) -> Bytes {
        line(match self {
            Self::Plain => object.typed_json(&resource.api_version(), resource.kind),
            Self::Metadata => metadata_of(object).to_string().into_bytes(),
        })
    }

    /// The body for a list.
    pub(super) fn list(self, resource: &Resource, page: &Page) -> Bytes {
        let metadata = list_metadata(page);
        line(match self {
            Self::Plain => plain_list(&resource.list_kind(), &resource.api_version(), &metadata, &page.items),
            Self::Metadata => {
                let items: Vec<Value> = page.items.iter().map(|object| metadata_of(object)).collect();
                let list = json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items});
                list.to_string().into_bytes()
            }
        })
    }
}

/// Adds a newline to a JSON body, as kube-apiserver does.
fn line(mut json: Vec<u8>) -> Bytes {
    json.push(b'\n');
    Bytes::from(json)
}

/// Joins the items, which are encoded already.
fn plain_list(kind: &str, api_version: &str, metadata: &Value, items: &[Arc<Object>]) -> Vec<u8> {
    let mut json = format!(r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{metadata},"items":["#).into_bytes();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            json.push(b',');
        }
        json.extend_from_slice(item.json());
    }
    json.extend_from_slice(b"]}");
    json
}

fn list_metadata(page: &Page) -> Value {
    let mut metadata = Map::new();
    metadata.insert("resourceVersion".to_owned(), page.revision.to_string().into());
    if let Some(next) = &page.next {
        metadata.insert("continue".to_owned(), next.as_str().into());
    }
    if let Some(remaining) = page.remaining {
        metadata.insert("remainingItemCount".to_owned(), remaining.into());
    }
    Value::Object(metadata)
}

fn metadata_of(object: &Object) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": object.value().get("metadata").cloned().unwrap_or_default(),
    })
}
