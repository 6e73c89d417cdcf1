//! Protobuf, written by hand: the output of Kubernetes' encoders, and bytes that they never write.

/// A field with bytes: a string or a message.
pub(super) fn bytes(number: u64, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    [varint(number << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// A field with a number.
pub(super) fn number(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

pub(super) fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
    out
}

/// An object in its envelope, with the two empty fields that Go writes after it.
pub(super) fn envelope(api_version: &str, kind: &str, object: &[u8]) -> Vec<u8> {
    let type_meta = [bytes(1, api_version), bytes(2, kind)].concat();
    [b"k8s\0".to_vec(), bytes(1, type_meta), bytes(2, object), bytes(3, ""), bytes(4, "")].concat()
}

/// A watch event with its length prefix.
pub(super) fn frame(event_type: &str, object: &[u8]) -> Vec<u8> {
    let event = [bytes(1, event_type), bytes(2, bytes(1, object))].concat();
    [u32::try_from(event.len()).unwrap().to_be_bytes().as_slice(), &event].concat()
}

/// An `ObjectMeta` with fields of every kind before, between and after those that are read.
pub(super) fn object_meta(namespace: &str, name: &str, uid: &str, resource_version: &str) -> Vec<u8> {
    [
        bytes(1, name),
        bytes(2, "generated-"),
        bytes(3, namespace),
        bytes(4, ""),
        bytes(5, uid),
        bytes(6, resource_version),
        number(7, 3),
        bytes(8, number(1, 1_762_161_327)),
        bytes(11, [bytes(1, "name"), bytes(2, "not-me")].concat()),
        bytes(12, [bytes(1, "k8s.io/initial-events-end"), bytes(2, "true")].concat()),
    ]
    .concat()
}

pub(super) fn list_meta(resource_version: &str, continue_token: &str, remaining: Option<u64>) -> Vec<u8> {
    let remaining = remaining.map(|count| number(4, count)).unwrap_or_default();
    [bytes(1, ""), bytes(2, resource_version), bytes(3, continue_token), remaining].concat()
}

/// An object with a spec and a status of some length.
pub(super) fn object(metadata: &[u8]) -> Vec<u8> {
    [bytes(1, metadata), bytes(2, [b'x'; 300]), bytes(3, "status")].concat()
}

/// A list of two pods.
pub(super) fn pod_list() -> Vec<u8> {
    let items = [("shop", "web-0", "u0", "4001"), ("", "node-like", "u1", "4002")];
    let items = items.map(|(namespace, name, uid, version)| bytes(2, object(&object_meta(namespace, name, uid, version))));
    let list = [bytes(1, list_meta("4711", "token", Some(17))), items.concat()].concat();
    envelope("v1", "PodList", &list)
}

/// The 504 of 1.18.6 and later.
pub(super) fn too_large() -> Vec<u8> {
    let cause = [bytes(1, "ResourceVersionTooLarge"), bytes(2, "Too large resource version"), bytes(3, "")].concat();
    let details = [bytes(1, ""), bytes(2, ""), bytes(3, ""), bytes(4, cause), number(5, 1), bytes(6, "")].concat();
    let status = [
        bytes(1, list_meta("", "", None)),
        bytes(2, "Failure"),
        bytes(3, "Timeout: Too large resource version: 900, current: 812"),
        bytes(4, "Timeout"),
        bytes(5, details),
        number(6, 504),
    ];
    envelope("v1", "Status", &status.concat())
}

/// One event of each type.
pub(super) fn watch() -> Vec<u8> {
    let pod = |name, version| envelope("v1", "Pod", &object(&object_meta("n", name, "u", version)));
    let bookmark = [bytes(6, "4"), bytes(12, [bytes(1, "k8s.io/initial-events-end"), bytes(2, "true")].concat())].concat();
    [
        frame("ADDED", &pod("a", "1")),
        frame("MODIFIED", &pod("b", "2")),
        frame("DELETED", &pod("c", "3")),
        frame("BOOKMARK", &envelope("v1", "Pod", &object(&bookmark))),
        frame("ERROR", &too_large()),
    ]
    .concat()
}
