//! Short bodies in the shapes that kube-apiserver writes.

use super::reading::{CBOR, JSON, PROTOBUF};
use super::{cbor_bytes, protobuf_bytes};
use crate::wire::BodyKind;

/// A typed list: kind, apiVersion, metadata, items; inner objects have members of the same names.
pub(super) const POD_LIST: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"4711","continue":"eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ","remainingItemCount":17},"items":[{"metadata":{"name":"web-0","generateName":"web-","namespace":"shop","uid":"6f1c0f3e-0000-4000-8000-000000000001","resourceVersion":"4001","labels":{"name":"not-me","uid":"nor me"},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"metadata\":{\"name\":\"}]\\\\\"}}\n"},"managedFields":[{"manager":"kubelet","fieldsV1":{"f:metadata":{"f:name":{}}}}]},"spec":{"metadata":{"name":"deep"},"items":[{"metadata":{"name":"deeper","resourceVersion":"1"}}],"containers":[{"name":"a","args":["--x={[\"","]}"]}]},"status":{"phase":"Running"}},{"metadata":{"name":"node-like","uid":"u2","resourceVersion":"4002"},"spec":{}}]}
"#;

/// A list of custom resources: members are sorted, so metadata comes last.
pub(super) const CUSTOM_RESOURCE_LIST: &str = r#"{"apiVersion":"example.com/v1","items":[{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"annotations":{"a":"b"},"creationTimestamp":"2024-05-02T10:11:12Z","generation":1,"name":"w","namespace":"default","resourceVersion":"12","uid":"u-w"},"spec":{"size":3}}],"kind":"WidgetList","metadata":{"continue":"","resourceVersion":"99"}}
"#;

/// A response to kubectl, with the default `includeObject=Metadata`.
pub(super) const TABLE: &str = r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"55"},"columnDefinitions":[{"name":"Name","type":"string","format":"name","description":"\"rows\":[{","priority":0}],"rows":[{"cells":["web-0","1/1",{"object":{"metadata":{"name":"cell"}}}],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"web-0","namespace":"shop","uid":"u-0","resourceVersion":"50"}}},{"cells":["web-1"],"object":null},{"cells":["web-2"]}]}
"#;

pub(super) const PARTIAL_METADATA_LIST: &str = r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"8"},"items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"s","namespace":"n","uid":"u","resourceVersion":"7"}}]}"#;

/// In the form of `?pretty=1`, and of the response to a write.
pub(super) const PRETTY_LEASE: &str = r#"{
  "kind": "Lease",
  "apiVersion": "coordination.k8s.io/v1",
  "metadata": {
    "name": "leader",
    "namespace": "kube-system",
    "uid": "u-l",
    "resourceVersion": "1234",
    "annotations": { "name": "no", "k8s.io/initial-events-end": "true" }
  },
  "spec": { "holderIdentity": "me", "metadata": { "resourceVersion": "0" } }
}
"#;

/// The 504 of 1.18.6 and later (kubernetes/apiserver `pkg/storage/errors.go`).
pub(super) const TOO_LARGE: &str = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: 900, current: 812","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1},"code":504}
"#;

/// The 410 of a continue token, with the token for an inconsistent continue.
pub(super) const EXPIRED_TOKEN: &str = r#"{"kind":"Status","apiVersion":"v1","metadata":{"continue":"ZnJlc2g"},"status":"Failure","message":"The provided continue parameter is too old","reason":"Expired","code":410}
"#;

pub(super) const WATCH: &str = concat!(
    r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"ua","resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"object":{"metadata":{"name":"x"}},"text":"\n{\"type\":\"ADDED\""}}}"#,
    "\n",
    r#"{"type":"MODIFIED","object":{"apiVersion":"v1","kind":"Node","metadata":{"annotations":{"x":"y"},"name":"b","resourceVersion":"2","uid":"ub"},"status":{"items":[{}],"message":"no"}}}"#,
    "\n",
    r#"{"type":"DELETED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"3"},"columnDefinitions":null,"rows":[{"cells":["c"],"object":{"metadata":{"name":"c","namespace":"n","uid":"uc","resourceVersion":"3"}}}]}}"#,
    "\n",
    r#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"4","creationTimestamp":null,"annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}}"#,
    "\n",
    r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 4 (9)","reason":"Expired","code":410}}"#,
    "\n",
);

/// All bodies above, for properties that hold for every body.
pub(super) const ALL: [(BodyKind, &str); 8] = [
    (BodyKind::Document, POD_LIST),
    (BodyKind::Document, CUSTOM_RESOURCE_LIST),
    (BodyKind::Document, TABLE),
    (BodyKind::Document, PARTIAL_METADATA_LIST),
    (BodyKind::Document, PRETTY_LEASE),
    (BodyKind::Document, TOO_LARGE),
    (BodyKind::Document, EXPIRED_TOKEN),
    (BodyKind::Watch, WATCH),
];

/// A body in one of the encodings.
#[derive(Clone, Debug)]
pub(super) struct Encoded {
    pub kind: BodyKind,
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
}

/// Bodies in every encoding.
pub(super) fn encoded() -> Vec<Encoded> {
    let json = ALL.map(|(kind, text)| Encoded { kind, content_type: JSON, bytes: text.as_bytes().to_vec() });
    let cbor = ALL.map(|(kind, text)| {
        let bytes = match kind {
            BodyKind::Document => cbor_bytes::document(text),
            BodyKind::Watch | BodyKind::Messages => cbor_bytes::watch(text),
        };
        Encoded { kind, content_type: CBOR, bytes }
    });
    let protobuf = [
        (BodyKind::Document, protobuf_bytes::pod_list()),
        (BodyKind::Document, protobuf_bytes::too_large()),
        (
            BodyKind::Document,
            protobuf_bytes::envelope("v1", "Pod", &protobuf_bytes::object(&protobuf_bytes::object_meta("n", "a", "u", "1"))),
        ),
        (BodyKind::Watch, protobuf_bytes::watch()),
    ];
    let protobuf = protobuf.map(|(kind, bytes)| Encoded { kind, content_type: PROTOBUF, bytes });
    [json.as_slice(), &cbor, &protobuf].concat()
}
