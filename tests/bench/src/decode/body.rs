//! List bodies as API servers send them.
//!
//! The objects are in `bodies/`, as readable JSON: a pod with its managed fields, a Secret that is mostly base64, and a custom
//! resource. The custom resource has its members in alphabetical order, with the list's metadata after the items. A list repeats
//! one of these objects with distinct identities. The folder also has a pod and a Secret with the same content in protobuf, as
//! kube-apiserver 1.34.4 wrote them.

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use ciborium::Value as Cbor;
use k8s_pb::api::core::v1::{Pod, PodList, Secret, SecretList};
use k8s_pb::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use k8s_pb::apimachinery::pkg::runtime::{TypeMeta, Unknown};
use observer_counted::json_list;
use prost::Message;
use serde::Serialize;
use serde_json::Value;

/// The kind of a list's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ListKind {
    /// Many small values, deeply nested.
    Pods,
    /// As the API server writes unknown types: through a map, so members are in alphabetical order.
    CustomResources,
    /// A few long strings.
    Secrets,
}

/// The encoding of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Encoding {
    Json,
    Protobuf,
    Cbor,
    /// JSON in one gzip member, at the level of kube-apiserver.
    JsonInGzip,
}

/// One list body, with its expected number of items.
#[derive(Clone, Debug)]
pub(crate) struct ListBody {
    /// The kind of its objects.
    pub(crate) kind: ListKind,
    pub(crate) encoding: Encoding,
    pub(crate) content_type: &'static str,
    /// Its `Content-Encoding`; empty for none.
    pub(crate) content_encoding: &'static str,
    /// The body as sent.
    pub(crate) bytes: Bytes,
    /// Number of items.
    pub(crate) items: u64,
    /// Size in bytes before content coding.
    pub(crate) plain_size: usize,
}

/// The prefix of every object in protobuf (kubernetes/apimachinery pkg/runtime/serializer/protobuf/protobuf.go).
pub(super) const PROTOBUF_PREFIX: &[u8] = b"k8s\0";

impl Encoding {
    /// Display name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Protobuf => "protobuf",
            Self::Cbor => "CBOR",
            Self::JsonInGzip => "JSON in gzip",
        }
    }
}

impl ListKind {
    pub(crate) const ALL: [Self; 3] = [Self::Pods, Self::CustomResources, Self::Secrets];

    /// Display name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pods => "pods",
            Self::CustomResources => "custom resources",
            Self::Secrets => "secrets",
        }
    }

    /// A JSON list of about `size` bytes, with at least one item.
    pub(crate) fn json(self, size: usize) -> Result<ListBody> {
        let (head, tail) = self.frame();
        let (text, items) = json_list(self.object(), head, tail, size).with_context(|| format!("a list of {}", self.name()))?;
        let items = u64::try_from(items)?;
        Ok(self.body(Encoding::Json, text.into(), items))
    }

    /// The same list in gzip.
    pub(crate) fn json_in_gzip(self, size: usize) -> Result<ListBody> {
        /// `defaultGzipContentEncodingLevel` of kubernetes/apiserver pkg/endpoints/handlers/responsewriters/writers.go, v0.34.
        const LEVEL: u32 = 1;
        let plain = self.json(size)?;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(LEVEL));
        std::io::Write::write_all(&mut encoder, &plain.bytes)?;
        let bytes = encoder.finish()?.into();
        let plain_size = plain.bytes.len();
        Ok(ListBody { content_encoding: "gzip", encoding: Encoding::JsonInGzip, bytes, plain_size, ..plain })
    }

    /// A CBOR list of about `size` bytes, with keys and text as byte strings, as kube-apiserver writes them.
    pub(crate) fn cbor(self, size: usize) -> Result<ListBody> {
        let json = self.json(size)?;
        let value: Value = serde_json::from_slice(&json.bytes)?;
        let mut bytes = Vec::new();
        ciborium::into_writer(&cbor(value), &mut bytes)?;
        Ok(self.body(Encoding::Cbor, bytes.into(), json.items))
    }

    /// A protobuf list of about `size` bytes; not available for custom resources.
    pub(crate) fn protobuf(self, size: usize) -> Result<ListBody> {
        let metadata = Some(ListMeta { resource_version: Some("98765432".to_owned()), ..ListMeta::default() });
        let (kind, items, raw) = match self {
            Self::Pods => {
                let items =
                    repeated::<Pod>(include_bytes!("../../bodies/pod.pb"), size, |pod| pod.metadata.get_or_insert_default())?;
                ("PodList", items.len(), PodList { metadata, items }.encode_to_vec())
            }
            Self::Secrets => {
                let items = repeated::<Secret>(include_bytes!("../../bodies/secret.pb"), size, |secret| {
                    secret.metadata.get_or_insert_default()
                })?;
                ("SecretList", items.len(), SecretList { metadata, items }.encode_to_vec())
            }
            Self::CustomResources => anyhow::bail!("custom resources are never written in protobuf"),
        };
        let type_meta = TypeMeta { api_version: Some("v1".to_owned()), kind: Some(kind.to_owned()) };
        let envelope = Unknown { type_meta: Some(type_meta), raw: Some(raw), ..Unknown::default() };
        let bytes = [PROTOBUF_PREFIX, &envelope.encode_to_vec()].concat();
        Ok(self.body(Encoding::Protobuf, bytes.into(), u64::try_from(items)?))
    }

    fn body(self, encoding: Encoding, bytes: Bytes, items: u64) -> ListBody {
        let content_type = match encoding {
            Encoding::Json | Encoding::JsonInGzip => "application/json",
            Encoding::Protobuf => "application/vnd.kubernetes.protobuf",
            Encoding::Cbor => "application/cbor",
        };
        ListBody { kind: self, encoding, content_type, content_encoding: "", plain_size: bytes.len(), bytes, items }
    }

    /// In readable JSON.
    fn object(self) -> &'static str {
        match self {
            Self::Pods => include_str!("../../bodies/pod.json"),
            Self::CustomResources => include_str!("../../bodies/custom-resource.json"),
            Self::Secrets => include_str!("../../bodies/secret.json"),
        }
    }

    fn frame(self) -> (&'static str, &'static str) {
        match self {
            Self::Pods => (r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"98765432"},"items":["#, "]}\n"),
            Self::CustomResources => (
                r#"{"apiVersion":"routing.example/v1","items":["#,
                "],\"kind\":\"RouteList\",\"metadata\":{\"continue\":\"\",\"resourceVersion\":\"98765432\"}}\n",
            ),
            Self::Secrets => {
                (r#"{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"98765432"},"items":["#, "]}\n")
            }
        }
    }
}

/// Repeats the object until `size` is reached, each time with its own name and UID.
fn repeated<O: Message + Default + Clone>(object: &[u8], size: usize, metadata: fn(&mut O) -> &mut ObjectMeta) -> Result<Vec<O>> {
    let envelope = object.strip_prefix(PROTOBUF_PREFIX).context("no protobuf of Kubernetes")?;
    let raw = Unknown::decode(envelope)?.raw.context("an envelope without an object")?;
    let object = O::decode(raw.as_slice())?;
    let count = (size / raw.len()).max(1);
    let numbered = |number| {
        let mut item = object.clone();
        let metadata = metadata(&mut item);
        metadata.name = Some(format!("checkout-{number:07}"));
        metadata.uid = Some(format!("0b1f6c1e-5a55-4a0e-9d3c-00000{number:07}"));
        item
    };
    let items: Vec<O> = (0..count).map(numbered).collect();
    ensure!(!items.is_empty(), "a list of nothing");
    Ok(items)
}

fn cbor(value: Value) -> Cbor {
    match value {
        Value::Null => Cbor::Null,
        Value::Bool(value) => Cbor::Bool(value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Cbor::Integer(whole.into()),
            (None, Some(number)) => Cbor::Float(number),
            (None, None) => Cbor::Null,
        },
        Value::String(text) => Cbor::Bytes(text.into_bytes()),
        Value::Array(values) => Cbor::Array(values.into_iter().map(cbor).collect()),
        Value::Object(members) => {
            Cbor::Map(members.into_iter().map(|(name, value)| (Cbor::Bytes(name.into_bytes()), cbor(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_the_requested_size_and_distinct_items() {
        for kind in ListKind::ALL {
            let body = kind.json(100_000).unwrap();
            let list: Value = serde_json::from_slice(&body.bytes).unwrap();
            let items = list["items"].as_array().unwrap();
            assert_eq!(u64::try_from(items.len()).unwrap(), body.items, "{kind:?}");
            assert!(items.len() > 1 && items[0]["metadata"]["uid"] != items[1]["metadata"]["uid"], "{kind:?}");
            assert!((90_000..=101_000).contains(&body.bytes.len()), "{kind:?}: {}", body.bytes.len());
        }
    }

    #[test]
    fn smallest_list_has_one_item() {
        assert_eq!(ListKind::Pods.json(0).unwrap().items, 1);
    }
}
