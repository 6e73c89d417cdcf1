//! Watch events of numbered config maps, as kube-apiserver writes them in each encoding; all events differ.

/// The encoding of a watch response.
#[derive(Clone, Copy, Debug)]
pub(super) enum Encoding {
    Json,
    Protobuf,
    Cbor,
}

impl Encoding {
    /// The value of `Content-Type`.
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
            Self::Cbor => "application/cbor-seq",
        }
    }

    /// A `MODIFIED` event with the config map of this number.
    pub(super) fn event(self, number: usize) -> Vec<u8> {
        let name = format!("event-{number:05}");
        let uid = format!("uid-{number:05}");
        let resource_version = format!("1{number:05}");
        match self {
            Self::Json => json(&name, &uid, &resource_version),
            Self::Protobuf => protobuf(&name, &uid, &resource_version),
            Self::Cbor => cbor(&name, &uid, &resource_version),
        }
    }
}

fn json(name: &str, uid: &str, resource_version: &str) -> Vec<u8> {
    let metadata = format!(r#"{{"name":"{name}","namespace":"a","uid":"{uid}","resourceVersion":"{resource_version}"}}"#);
    format!(r#"{{"type":"MODIFIED","object":{{"kind":"ConfigMap","apiVersion":"v1","metadata":{metadata}}}}}{}"#, '\n').into_bytes()
}

/// `WatchEvent` and `ObjectMeta` of apimachinery `pkg/apis/meta/v1/generated.proto`; `Unknown` of `pkg/runtime/generated.proto`
/// after its magic number; the length of the frame comes first (`pkg/util/framer`).
fn protobuf(name: &str, uid: &str, resource_version: &str) -> Vec<u8> {
    let metadata = [
        length_delimited(1, name.as_bytes()),
        length_delimited(3, b"a"),
        length_delimited(5, uid.as_bytes()),
        length_delimited(6, resource_version.as_bytes()),
    ]
    .concat();
    let kind = [length_delimited(1, b"v1"), length_delimited(2, b"ConfigMap")].concat();
    let unknown = [length_delimited(1, &kind), length_delimited(2, &length_delimited(1, &metadata))].concat();
    let raw = [b"k8s\0", &unknown[..]].concat();
    let event = [length_delimited(1, b"MODIFIED"), length_delimited(2, &length_delimited(1, &raw))].concat();
    [&u32::try_from(event.len()).unwrap().to_be_bytes()[..], &event].concat()
}

fn length_delimited(field: u8, bytes: &[u8]) -> Vec<u8> {
    const LONGER: u8 = 128;
    let length = u8::try_from(bytes.len()).unwrap();
    assert!(length < LONGER, "a longer length takes more than a byte");
    [&[field << 3 | 2, length], bytes].concat()
}

/// A self-described item (RFC 8949 §3.4.6); Kubernetes encodes text as byte strings (KEP-4222).
fn cbor(name: &str, uid: &str, resource_version: &str) -> Vec<u8> {
    let metadata = map(&[
        ("name", &string(name)),
        ("namespace", &string("a")),
        ("uid", &string(uid)),
        ("resourceVersion", &string(resource_version)),
    ]);
    let object = map(&[("kind", &string("ConfigMap")), ("apiVersion", &string("v1")), ("metadata", &metadata)]);
    [&[0xd9, 0xd9, 0xf7][..], &map(&[("type", &string("MODIFIED")), ("object", &object)])].concat()
}

fn map(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let head = [0xa0 | u8::try_from(entries.len()).unwrap()];
    let entries = entries.iter().map(|(key, value)| [&string(key), *value].concat());
    std::iter::once(head.to_vec()).chain(entries).flatten().collect()
}

fn string(text: &str) -> Vec<u8> {
    const LONGER: u8 = 24;
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < LONGER, "a longer length takes more than the first byte");
    [&[0x40 | length], text.as_bytes()].concat()
}
