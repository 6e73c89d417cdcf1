//! A stored object: a JSON document without kind and version, and its encoding.

use bytes::Bytes;
use serde_json::{Map, Value};

/// A version of an object.
///
/// `apiVersion` and `kind` are omitted, as in the items of a list: they depend on the path of the request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object {
    value: Value,
    json: Bytes,
    revision: u64,
}

impl Object {
    /// Makes an object from `value`, with the revision in `metadata.resourceVersion`. A value that is not a JSON object becomes an
    /// empty one.
    pub(crate) fn at_revision(mut value: Value, revision: u64) -> Self {
        if !value.is_object() {
            value = Value::Object(Map::new());
        }
        if let Some(fields) = value.as_object_mut() {
            fields.remove("apiVersion");
            fields.remove("kind");
            let metadata = fields.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
            if let Some(metadata) = metadata.as_object_mut() {
                metadata.insert("resourceVersion".to_owned(), revision.to_string().into());
            }
        }
        let json = Bytes::from(value.to_string());
        Self { value, json, revision }
    }

    /// The document, without `apiVersion` and `kind`.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// The document, beginning with `apiVersion` and `kind`.
    pub(crate) fn typed(&self, api_version: &str, kind: &str) -> Value {
        let mut fields = Map::new();
        fields.insert("kind".to_owned(), kind.into());
        fields.insert("apiVersion".to_owned(), api_version.into());
        fields.extend(self.value.as_object().cloned().unwrap_or_default());
        Value::Object(fields)
    }

    /// The encoding, as in the items of a list.
    pub(crate) fn json(&self) -> &[u8] {
        &self.json
    }

    /// The encoding, beginning with `kind` and `apiVersion`, as in a watch event.
    pub(crate) fn typed_json(&self, api_version: &str, kind: &str) -> Vec<u8> {
        let head = format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{api_version}\",");
        let fields = self.json.get(1..).unwrap_or_default();
        [head.as_bytes(), fields].concat()
    }

    /// Its encoded size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.json.len()
    }

    /// The revision at which it was written.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The text at a JSON pointer; empty if there is none.
    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// `metadata.name`.
    pub(crate) fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    /// `metadata.namespace`; empty for a cluster-scoped object.
    pub(crate) fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }

    /// `metadata.uid`.
    pub(crate) fn uid(&self) -> &str {
        self.text("/metadata/uid")
    }

    /// The value of a label.
    pub(crate) fn label(&self, name: &str) -> Option<&str> {
        self.value.get("metadata")?.get("labels")?.get(name)?.as_str()
    }
}
