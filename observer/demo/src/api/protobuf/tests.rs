//! Tests of protobuf bodies: those of kubectl, bodies made by hand, and damaged ones.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;

use super::messages::BY_KIND;
use super::shape::{Message, Shape};
use super::{Body, Error, to_json};
use crate::api::{find, resources};

/// `kubectl create configmap c1 --from-literal=a=b`, by kubectl 1.33.
const CONFIG_MAP: &[u8] = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x1c\
    \x0a\x12\x0a\x02c1\x12\0\x1a\0\x22\0\x2a\0\x32\0\x38\0\x42\0\x12\x06\x0a\x01a\x12\x01b\x1a\0\x22\0";

#[test]
fn kubectl_protobuf_object_decodes_to_the_same_json() {
    let object = to_json(of("", "configmaps"), CONFIG_MAP).unwrap();
    assert_eq!(object, json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "c1"}, "data": {"a": "b"}}));
}

#[test]
fn zero_is_kept_only_for_optional_fields() {
    let container = [text(1, "c"), text(2, ""), number(16, 0), part(8, &[])].concat();
    let pod_spec = [part(2, &container), text(3, ""), number(4, 0), number(11, 0)].concat();
    let spec = [number(1, 0), part(3, &part(2, &pod_spec)), number(5, 0), number(7, 1)].concat();
    let object = to_json(of("apps", "deployments"), &envelope(&[part(1, &text(1, "d")), part(2, &spec)].concat())).unwrap();
    let pod_spec = json!({"containers": [{"name": "c", "resources": {}}], "terminationGracePeriodSeconds": 0});
    assert_eq!(object, json!({"metadata": {"name": "d"}, "spec": {"replicas": 0, "template": {"spec": pod_spec}, "paused": true}}));
}

#[test]
fn protobuf_time_and_int_or_string_become_json_scalars() {
    let time = [number(1, 1_700_000_000), number(2, 0)].concat();
    let meta = [text(1, "s"), part(8, &time), part(9, &[])].concat();
    let port = |target: &[u8]| part(1, &[number(3, 80), part(4, target)].concat());
    let (numbered, named) =
        ([number(1, 0), number(2, 8080), text(3, "")].concat(), [number(1, 1), number(2, 0), text(3, "http")].concat());
    let unset = [number(1, 0), number(2, 0), text(3, "")].concat();
    let spec = [port(&numbered), port(&named), port(&unset)].concat();
    let service = to_json(of("", "services"), &envelope(&[part(1, &meta), part(2, &spec)].concat())).unwrap();
    assert_eq!(service["metadata"], json!({"name": "s", "creationTimestamp": "2023-11-14T22:13:20Z"}));
    assert_eq!(
        service["spec"]["ports"],
        json!([{"port": 80, "targetPort": 8080}, {"port": 80, "targetPort": "http"}, {"port": 80}])
    );
    let limits = |amount: &str| part(1, &[text(1, "cpu"), part(2, &text(1, amount))].concat());
    let spec = part(2, &[text(1, "c"), part(8, &limits("250m"))].concat());
    let pod = to_json(of("", "pods"), &envelope(&part(2, &spec))).unwrap();
    assert_eq!(pod["spec"]["containers"][0]["resources"], json!({"limits": {"cpu": "250m"}}));
    let secret = to_json(of("", "secrets"), &envelope(&part(2, &[text(1, "k"), part(2, b"\0\xff")].concat()))).unwrap();
    assert_eq!(secret["data"], json!({"k": "AP8="}));
    let micro = [number(1, 1_700_000_000), number(2, 5_000)].concat();
    let lease = to_json(of("coordination.k8s.io", "leases"), &envelope(&part(2, &part(4, &micro)))).unwrap();
    assert_eq!(lease["spec"], json!({"renewTime": "2023-11-14T22:13:20.000005Z"}));
}

#[test]
fn volume_source_is_inlined_into_the_volume() {
    let volume = [text(1, "v"), part(2, &part(2, &text(1, "Memory")))].concat();
    let pod = to_json(of("", "pods"), &envelope(&part(2, &part(1, &volume)))).unwrap();
    assert_eq!(pod["spec"]["volumes"], json!([{"name": "v", "emptyDir": {"medium": "Memory"}}]));
}

#[test]
fn unknown_field_error_names_its_message_and_number() {
    let volume = [text(1, "v"), part(2, &part(28, &[]))].concat();
    let error = to_json(of("", "pods"), &envelope(&part(2, &part(1, &volume)))).unwrap_err();
    assert_eq!(error, Error::UnknownField { message: "VolumeSource", number: 28 });
    assert!(error.is_unsupported() && error.to_string().contains("field 28 of VolumeSource"), "{error}");
    let encoded = [envelope(&[]), text(3, "gzip")].concat();
    assert!(to_json(of("", "pods"), &encoded).unwrap_err().is_unsupported());
}

#[test]
fn malformed_field_error_names_its_message() {
    let refused = |object: &[u8]| to_json(of("", "pods"), &envelope(object)).unwrap_err().to_string();
    assert_eq!(to_json(of("", "pods"), b"{}").unwrap_err(), Error::NoMagic);
    for (object, message) in [
        (text(1, "\u{1}"), "ObjectMeta"),
        (number(1, 5), "Pod"),
        (part(1, &part(1, b"\xff")), "ObjectMeta"),
        ([part(1, &text(1, "a")), part(1, &text(1, "b"))].concat(), "Pod"),
        (part(1, &part(8, &number(1, u64::MAX))), "ObjectMeta"),
        (part(1, &part(11, &number(3, 1))), "ObjectMeta"),
    ] {
        let error = refused(&object);
        assert!(error.contains(&format!("of {message} is malformed")), "{error}");
    }
}

#[test]
fn message_names_and_field_numbers_are_unique() {
    let mut seen = BTreeSet::new();
    let mut fields = 0;
    for message in reachable() {
        assert!(seen.insert(message.name), "two messages are named {}", message.name);
        let numbers: BTreeSet<u32> = message.fields.iter().map(|field| field.number).collect();
        assert_eq!(numbers.len(), message.fields.len(), "{}", message.name);
        fields += numbers.len();
    }
    assert!(fields > 500, "only {fields} fields were compared");
}

#[test]
fn every_built_in_resource_decodes_from_protobuf() {
    for resource in resources().iter().filter(|resource| !resource.is_definition()) {
        assert!(to_json(Body::Object(resource), &envelope(&part(1, &text(1, "x")))).is_ok(), "{}", resource.name);
    }
    let definitions = of("apiextensions.k8s.io", "customresourcedefinitions");
    assert!(to_json(definitions, &envelope(&[])).unwrap_err().is_unsupported());
    let options = [number(1, 0), text(4, "Background")].concat();
    let options = to_json(Body::DeleteOptions, &envelope(&options)).unwrap();
    assert_eq!(options, json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background"}));
}

proptest! {
    #[test]
    fn arbitrary_protobuf_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..80_usize) {
        for resource in resources() {
            let _outcome = to_json(Body::Object(resource), &envelope(&bytes));
        }
        let _outcome = to_json(of("", "configmaps"), &CONFIG_MAP[..cut.min(CONFIG_MAP.len())]);
    }
}

/// Each message that a kind can contain, once.
fn reachable() -> Vec<&'static Message> {
    let mut found: Vec<&'static Message> = BY_KIND.to_vec();
    let mut next = 0;
    while let Some(message) = found.get(next).copied() {
        for field in message.fields {
            if let Some(inner) = inner(&field.shape).filter(|inner| !found.iter().any(|known| std::ptr::eq(*known, *inner))) {
                found.push(inner);
            }
        }
        next += 1;
    }
    found
}

fn inner(shape: &'static Shape) -> Option<&'static Message> {
    if let Shape::Many(of) | Shape::Map(of) = shape {
        return inner(of);
    }
    if let Shape::One(message) | Shape::Inline(message) = shape { Some(message) } else { None }
}

fn of(group: &str, name: &str) -> Body {
    Body::Object(find(group, "v1", name).unwrap())
}

/// The envelope has no kind, since no test needs one.
fn envelope(object: &[u8]) -> Vec<u8> {
    [b"k8s\0".to_vec(), part(2, object)].concat()
}

fn part(number: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

fn text(number: u64, text: &str) -> Vec<u8> {
    part(number, text.as_bytes())
}

fn number(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    bytes.push(u8::try_from(value).unwrap());
    bytes
}
