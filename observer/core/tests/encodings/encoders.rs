//! Encoders for the test objects: those of serde for JSON and CBOR, and those of prost for protobuf.

use k8s_pb::api::core::v1 as core;
use k8s_pb::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_pb::apimachinery::pkg::runtime::{RawExtension, TypeMeta, Unknown};
use observer_core::wire::{EventType, ListMeta, ObjectRef};
use prost::Message;
use serde_json::{Value, json};

use crate::objects::{Kind, List, event_type, failure};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Protobuf,
    Cbor,
}

/// Part of a spec or an annotation that a careless reader would take for metadata.
const TEMPTING: &str = r#"{"metadata":{"name":"no","resourceVersion":"0"},"items":[{}]}"#;

const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

impl Encoding {
    pub(crate) const ALL: [Self; 3] = [Self::Json, Self::Protobuf, Self::Cbor];

    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
            Self::Cbor => "application/cbor",
        }
    }

    pub(crate) fn list(self, list: &List) -> Vec<u8> {
        let items = || list.items.iter().map(|item| object(list.kind, item)).collect::<Vec<_>>();
        let (kind, api_version) = (format!("{}List", list.kind.name()), list.kind.api_version());
        let value = || json!({"kind": kind, "apiVersion": api_version, "metadata": list_meta(&list.meta), "items": items()});
        match self {
            Self::Json => [value().to_string().as_bytes(), b"\n"].concat(),
            Self::Cbor => cbor(&value()),
            Self::Protobuf => envelope(&kind, api_version, message_of_list(list)),
        }
    }

    /// The events of a watch, each in its own buffer.
    pub(crate) fn watch(self, list: &List) -> Vec<Vec<u8>> {
        let of_items = list.items.iter().enumerate().map(|(index, item)| self.event(event_type(index), list.kind, item, false));
        let bookmark = ObjectRef { resource_version: list.meta.resource_version.clone(), ..ObjectRef::default() };
        let bookmark = self.event(EventType::Bookmark, list.kind, &bookmark, true);
        let mut events: Vec<Vec<u8>> = of_items.chain([bookmark, self.error_event()]).collect();
        // The newline between two events counts as part of the second.
        if self == Self::Json {
            events.iter_mut().skip(1).for_each(|event| event.insert(0, b'\n'));
        }
        events
    }

    pub(crate) fn failure(self) -> Vec<u8> {
        match self {
            Self::Json => status().to_string().into_bytes(),
            Self::Cbor => cbor(&status()),
            Self::Protobuf => envelope("Status", "v1", message_of_status()),
        }
    }

    fn event(self, event_type: EventType, kind: Kind, item: &ObjectRef, ends_initial_events: bool) -> Vec<u8> {
        let mut value = object(kind, item);
        value["kind"] = json!(kind.name());
        value["apiVersion"] = json!(kind.api_version());
        value["metadata"]["annotations"][INITIAL_EVENTS_END] = json!(ends_initial_events.to_string());
        match self {
            Self::Json => json!({"type": event_type, "object": value}).to_string().into_bytes(),
            Self::Cbor => cbor(&json!({"type": event_type, "object": value})),
            Self::Protobuf => {
                let object = envelope(kind.name(), kind.api_version(), message(kind, item, ends_initial_events));
                frame(event_type, object)
            }
        }
    }

    fn error_event(self) -> Vec<u8> {
        match self {
            Self::Json => json!({"type": "ERROR", "object": status()}).to_string().into_bytes(),
            Self::Cbor => cbor(&json!({"type": "ERROR", "object": status()})),
            Self::Protobuf => frame(EventType::Error, self.failure()),
        }
    }
}

fn cbor(value: &Value) -> Vec<u8> {
    let mut bytes = vec![0xd9, 0xd9, 0xf7];
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

fn list_meta(meta: &ListMeta) -> Value {
    serde_json::to_value(ListMetaJson {
        resource_version: &meta.resource_version,
        continue_token: &meta.continue_token,
        remaining_item_count: meta.remaining_item_count,
    })
    .unwrap()
}

/// The metadata of a list as Go writes it, without empty fields.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct ListMetaJson<'a> {
    resource_version: &'a str,
    #[serde(rename = "continue", skip_serializing_if = "str::is_empty")]
    continue_token: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_item_count: Option<i64>,
}

fn object(kind: Kind, item: &ObjectRef) -> Value {
    let mut metadata = json!({
        "name": item.name, "uid": item.uid, "resourceVersion": item.resource_version,
        "creationTimestamp": "2025-11-03T09:15:27Z",
        "labels": {"name": "not me"},
        "annotations": {"last-applied": TEMPTING},
    });
    if !item.namespace.is_empty() {
        metadata["namespace"] = json!(item.namespace);
    }
    match kind {
        Kind::Pod => {
            let environment: Vec<Value> = (0..20).map(|n| json!({"name": format!("VAR_{n}"), "value": TEMPTING})).collect();
            let container = json!({"name": "server", "image": "registry.example/checkout:1", "env": environment});
            json!({"metadata": metadata, "spec": {"containers": [container], "nodeName": "node"}, "status": {"phase": "Running"}})
        }
        Kind::Secret => json!({"metadata": metadata, "data": {"token": "c2VjcmV0".repeat(100)}, "type": "Opaque"}),
        Kind::ConfigMap => json!({"metadata": metadata, "data": {"key": "value"}}),
        Kind::Metadata => json!({"metadata": metadata}),
        Kind::Widget => {
            json!({"metadata": metadata, "spec": {"items": [{"metadata": {"name": "no"}}], "size": 3.5, "on": true, "off": null}})
        }
    }
}

fn status() -> Value {
    let status = failure();
    let causes: Vec<Value> = status.causes.iter().map(|cause| json!({"reason": cause.reason, "message": cause.message})).collect();
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {"continue": status.continue_token},
        "status": status.status, "message": status.message, "reason": status.reason, "code": status.code,
        "details": {"causes": causes, "retryAfterSeconds": status.retry_after_seconds},
    })
}

fn envelope(kind: &str, api_version: &str, object: Vec<u8>) -> Vec<u8> {
    let unknown = Unknown {
        type_meta: Some(TypeMeta { api_version: Some(api_version.into()), kind: Some(kind.into()) }),
        raw: Some(object),
        content_encoding: Some(String::new()),
        content_type: Some(String::new()),
    };
    [b"k8s\0".as_slice(), &unknown.encode_to_vec()].concat()
}

fn frame(event_type: EventType, object: Vec<u8>) -> Vec<u8> {
    let event_type = serde_json::to_value(event_type).unwrap().as_str().unwrap().to_owned();
    let event = meta::WatchEvent { r#type: Some(event_type), object: Some(RawExtension { raw: Some(object) }) }.encode_to_vec();
    [u32::try_from(event.len()).unwrap().to_be_bytes().as_slice(), &event].concat()
}

fn message_of_list(list: &List) -> Vec<u8> {
    let metadata = Some(meta::ListMeta {
        self_link: Some(String::new()),
        resource_version: Some(list.meta.resource_version.clone()),
        r#continue: Some(list.meta.continue_token.clone()),
        remaining_item_count: list.meta.remaining_item_count,
    });
    let items = list.items.iter();
    match list.kind {
        Kind::Pod => core::PodList { metadata, items: items.map(pod).collect() }.encode_to_vec(),
        Kind::Secret => core::SecretList { metadata, items: items.map(secret).collect() }.encode_to_vec(),
        Kind::ConfigMap => core::ConfigMapList { metadata, items: items.map(config_map).collect() }.encode_to_vec(),
        Kind::Metadata => meta::PartialObjectMetadataList { metadata, items: items.map(partial).collect() }.encode_to_vec(),
        Kind::Widget => unreachable!("custom resources are never in protobuf"),
    }
}

fn message(kind: Kind, item: &ObjectRef, ends_initial_events: bool) -> Vec<u8> {
    let annotated = || {
        let mut metadata = metadata(item);
        metadata.annotations.insert(INITIAL_EVENTS_END.into(), ends_initial_events.to_string());
        Some(metadata)
    };
    match kind {
        Kind::Pod => core::Pod { metadata: annotated(), ..pod(item) }.encode_to_vec(),
        Kind::Secret => core::Secret { metadata: annotated(), ..secret(item) }.encode_to_vec(),
        Kind::ConfigMap => core::ConfigMap { metadata: annotated(), ..config_map(item) }.encode_to_vec(),
        Kind::Metadata => meta::PartialObjectMetadata { metadata: annotated() }.encode_to_vec(),
        Kind::Widget => unreachable!("custom resources are never in protobuf"),
    }
}

fn metadata(item: &ObjectRef) -> meta::ObjectMeta {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    meta::ObjectMeta {
        name: Some(item.name.clone()),
        generate_name: Some("checkout-".into()),
        namespace: Some(item.namespace.clone()),
        self_link: Some(String::new()),
        uid: Some(item.uid.clone()),
        resource_version: Some(item.resource_version.clone()),
        generation: Some(3),
        creation_timestamp: Some(meta::Time { seconds: Some(1_762_161_327), nanos: Some(0) }),
        labels: [pair("name", "not me")].into(),
        annotations: [pair("last-applied", TEMPTING)].into(),
        managed_fields: vec![meta::ManagedFieldsEntry {
            manager: Some("kubelet".into()),
            fields_v1: Some(meta::FieldsV1 { raw: Some(TEMPTING.into()) }),
            ..meta::ManagedFieldsEntry::default()
        }],
        ..meta::ObjectMeta::default()
    }
}

fn pod(item: &ObjectRef) -> core::Pod {
    let variable =
        |n: usize| core::EnvVar { name: Some(format!("VAR_{n}")), value: Some(TEMPTING.into()), ..core::EnvVar::default() };
    let container = core::Container {
        name: Some("server".into()),
        image: Some("registry.example/checkout:1".into()),
        env: (0..20).map(variable).collect(),
        ..core::Container::default()
    };
    let spec = core::PodSpec { containers: vec![container], node_name: Some("node".into()), ..core::PodSpec::default() };
    let status = core::PodStatus { phase: Some("Running".into()), ..core::PodStatus::default() };
    core::Pod { metadata: Some(metadata(item)), spec: Some(spec), status: Some(status) }
}

fn secret(item: &ObjectRef) -> core::Secret {
    core::Secret {
        metadata: Some(metadata(item)),
        data: [("token".to_owned(), b"k8s\0\x0a\x06\x0a\x04name".repeat(60))].into(),
        r#type: Some("Opaque".into()),
        ..core::Secret::default()
    }
}

fn config_map(item: &ObjectRef) -> core::ConfigMap {
    let data = [("key".to_owned(), "value".to_owned())].into();
    core::ConfigMap { metadata: Some(metadata(item)), data, ..core::ConfigMap::default() }
}

fn partial(item: &ObjectRef) -> meta::PartialObjectMetadata {
    meta::PartialObjectMetadata { metadata: Some(metadata(item)) }
}

fn message_of_status() -> Vec<u8> {
    let status = failure();
    let cause = |cause: &observer_core::k8s::StatusCause| meta::StatusCause {
        reason: Some(cause.reason.clone()),
        message: Some(cause.message.clone()),
        field: Some(cause.field.clone()),
    };
    let details = meta::StatusDetails {
        causes: status.causes.iter().map(cause).collect(),
        retry_after_seconds: status.retry_after_seconds.map(u32::cast_signed),
        ..meta::StatusDetails::default()
    };
    meta::Status {
        metadata: Some(meta::ListMeta { r#continue: Some(status.continue_token), ..meta::ListMeta::default() }),
        status: Some(status.status),
        message: Some(status.message),
        reason: Some(status.reason),
        details: Some(details),
        code: Some(status.code.into()),
    }
    .encode_to_vec()
}
