//! Objects with canaries, in every encoding that watchtap reads.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::secrets::{secret, secret_base64};

/// The name of every object here. It is no secret: if it does not appear, nothing was read.
pub(super) const NAME: &str = "seen-by-its-name";

/// A list of one Secret, with the canary in `data`, `stringData`, an annotation and the name of a key.
pub(super) fn secrets_json(place: &str) -> String {
    format!(
        r#"{{"kind":"SecretList","apiVersion":"v1","metadata":{{"resourceVersion":"7"}},"items":[{{"metadata":{{"name":"{NAME}","namespace":"default","uid":"u","resourceVersion":"6","annotations":{{"last-applied":"{}"}}}},"data":{{"{}":"{}"}},"stringData":{{"x":"{}"}}}}]}}"#,
        secret("annotation"),
        secret("secret key json"),
        secret_base64(place),
        secret(place),
    )
}

pub(super) fn config_map_json(place: &str) -> String {
    format!(
        r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{NAME}","namespace":"default","resourceVersion":"6"}},"data":{{"x":"{}"}}}}"#,
        secret(place)
    )
}

/// A Table, as kubectl requests it: rows with cells.
pub(super) fn table_json() -> String {
    format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"7"}},"columnDefinitions":[],"rows":[{{"cells":["{}"],"object":{{"kind":"PartialObjectMetadata","metadata":{{"name":"{NAME}","namespace":"default","resourceVersion":"6"}}}}}}]}}"#,
        secret("secret data table")
    )
}

/// A refusal that quotes the refused value.
pub(super) fn refusal_json() -> String {
    format!(
        r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"ConfigMap \"{NAME}\" is invalid: data[x]: Invalid value: \"{}\"","reason":"Invalid","details":{{"causes":[{{"reason":"FieldValueInvalid","message":"Invalid value: \"{}\"","field":"data[{}]"}}]}},"code":422}}"#,
        secret("refusal of a write"),
        secret("cause of a refusal"),
        secret("secret key json"),
    )
}

/// Watch events; the last one is incomplete.
pub(super) fn watch_json(place: &str) -> String {
    let event = |kind: &str| format!("{{\"type\":\"{kind}\",\"object\":{}}}\n", config_map_json(place));
    event("ADDED") + &event("MODIFIED") + r#"{"type":"DELETED","object":{"data":{"x":""# + &secret(place)
}

/// The list of Secrets as a gzip member.
pub(super) fn secrets_gzip() -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(secrets_json("secret data gzip").as_bytes()).unwrap();
    gzip.finish().unwrap()
}

/// A `SecretList` in the envelope of Kubernetes (apimachinery pkg/runtime/serializer/protobuf; message numbers of core/v1 and
/// meta/v1).
pub(super) fn secrets_protobuf(place: &str) -> Vec<u8> {
    let entry = [field(1, secret("secret key json")), field(2, secret(place))].concat();
    let metadata = [field(1, NAME), field(3, "default"), field(5, "u"), field(6, "6")].concat();
    let item = [field(1, metadata), field(2, entry)].concat();
    let list = [field(1, field(2, "7")), field(2, item)].concat();
    let kind = [field(1, "v1"), field(2, "SecretList")].concat();
    [b"k8s\0".to_vec(), field(1, kind), field(2, list)].concat()
}

/// The list of Secrets in CBOR (RFC 8949), self-described as Kubernetes writes it.
pub(super) fn secrets_cbor() -> Vec<u8> {
    let metadata = map(&[("name", text(NAME)), ("namespace", text("default")), ("resourceVersion", text("6"))]);
    let data = map(&[("x", string(0x40, secret("secret data cbor").as_bytes()))]);
    let item = map(&[("metadata", metadata), ("data", data)]);
    let list = map(&[
        ("kind", text("SecretList")),
        ("apiVersion", text("v1")),
        ("metadata", map(&[("resourceVersion", text("7"))])),
        ("items", [vec![0x81], item].concat()),
    ]);
    [b"\xd9\xd9\xf7".to_vec(), list].concat()
}

/// A length-delimited protobuf field.
fn field(number: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let mut bytes = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        bytes.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    bytes.push(u8::try_from(length).unwrap());
    [&bytes, content].concat()
}

fn map(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let head = 0xa0 | u8::try_from(entries.len()).unwrap();
    [vec![head], entries.iter().flat_map(|(key, value)| [text(key), value.clone()].concat()).collect()].concat()
}

fn text(text: &str) -> Vec<u8> {
    string(0x60, text.as_bytes())
}

/// A string of this major type with less than 256 bytes.
fn string(major_type: u8, bytes: &[u8]) -> Vec<u8> {
    [&[major_type | 0x18, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}
