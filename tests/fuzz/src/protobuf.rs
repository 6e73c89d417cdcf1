//! Invariant of protobuf bodies: if prost accepts a list, its re-encoded form has the items that prost reads.

use observer_core::wire::ObjectRef;
use prost::Message;

use super::body::Body;
use super::facts::{cut, is_complete, items};
use super::json::DOCUMENT;

pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// The prefix of the envelope (kubernetes/apimachinery pkg/runtime/serializer/protobuf/protobuf.go).
const MAGIC: &[u8] = b"k8s\0";

/// `runtime.Unknown`, the envelope.
#[derive(Clone, PartialEq, prost::Message)]
struct Unknown {
    #[prost(message, optional, tag = "1")]
    type_meta: Option<TypeMeta>,
    #[prost(bytes = "vec", optional, tag = "2")]
    raw: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct TypeMeta {
    #[prost(string, optional, tag = "1")]
    api_version: Option<String>,
    #[prost(string, optional, tag = "2")]
    kind: Option<String>,
}

/// The fields of any list that the reader uses.
#[derive(Clone, PartialEq, prost::Message)]
struct List {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ListMeta>,
    #[prost(message, repeated, tag = "2")]
    items: Vec<Item>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ListMeta {
    #[prost(string, optional, tag = "2")]
    resource_version: Option<String>,
    #[prost(string, optional, tag = "3")]
    continue_token: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Item {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ObjectMeta>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ObjectMeta {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "3")]
    namespace: Option<String>,
    #[prost(string, optional, tag = "5")]
    uid: Option<String>,
    #[prost(string, optional, tag = "6")]
    resource_version: Option<String>,
}

/// Reads the body, and also prost's encoding of it.
pub fn check(input: &[u8]) {
    let Some(body) = Body::of(input, MEDIA_TYPE) else { return };
    body.assert_sound();
    if let (true, Some((envelope, list))) = (body.kind == DOCUMENT, list_of(body.bytes)) {
        let raw = Some(list.encode_to_vec());
        let bytes = [MAGIC, &Unknown { raw, ..envelope }.encode_to_vec()].concat();
        let facts = Body { bytes: &bytes, ..body }.facts();
        assert!(is_complete(&facts), "prost wrote the list: {facts:?} of {list:?}");
        let expected: Vec<ObjectRef> = list.items.iter().map(identity_of).collect();
        assert_eq!(items(&facts), expected.iter().collect::<Vec<_>>(), "{list:?}");
    }
}

/// The list in an envelope whose kind names a list.
fn list_of(bytes: &[u8]) -> Option<(Unknown, List)> {
    let envelope = Unknown::decode(bytes.strip_prefix(MAGIC)?).ok()?;
    let kind = envelope.type_meta.as_ref()?.kind.as_deref()?;
    if !kind.ends_with("List") {
        return None;
    }
    let list = List::decode(envelope.raw.as_deref()?).ok()?;
    Some((envelope, list))
}

fn identity_of(item: &Item) -> ObjectRef {
    let metadata = item.metadata.clone().unwrap_or_default();
    let text = |text: Option<String>| cut(&text.unwrap_or_default());
    ObjectRef {
        namespace: text(metadata.namespace),
        name: text(metadata.name),
        uid: text(metadata.uid),
        resource_version: text(metadata.resource_version),
    }
}
