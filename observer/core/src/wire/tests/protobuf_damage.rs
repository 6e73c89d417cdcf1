//! Invalid protobuf.

use proptest::prelude::*;

use super::protobuf::{document, events};
use super::protobuf_bytes::{bytes, envelope, frame, list_meta, number, object, object_meta, pod_list, varint, watch};
use super::reading::PROTOBUF;
use super::reading::{gzip_member, kind, object as object_ref, read_as};
use crate::wire::{BodyKind, BodyReader, Fact};

#[test]
fn document_that_ends_early_is_malformed_at_its_end() {
    let whole = pod_list();
    let content_end = whole.len() - 4;
    for end in 1..content_end {
        let last = document(&whole[..end]).pop();
        assert_eq!(last, Some(Fact::Malformed { at: end as u64, what: "ends in the middle of a document" }), "{end}");
    }
    assert_eq!(document(b""), [Fact::Malformed { at: 0, what: "no document" }]);
}

#[test]
fn watch_is_well_formed_only_if_it_ends_between_events() {
    let whole = frame("ADDED", b"");
    let next = [whole.as_slice(), &watch()[..40]].concat();
    assert!(matches!(events(&whole)[..], [Fact::Frame(_)]));
    assert_eq!(events(&next)[1], Fact::Malformed { at: next.len() as u64, what: "ends in the middle of a watch event" });
    assert_eq!(events(b""), []);
}

#[test]
fn errors_are_reported_with_their_position() {
    let object = |bytes: &[u8]| envelope("v1", "Pod", bytes);
    let start = object(b"").len() as u64 - 4;
    for (body, at, what) in [
        (b"{\"kind\"".to_vec(), 0, "not a Kubernetes object in protobuf"),
        (b"k8s\x01".to_vec(), 3, "not a Kubernetes object in protobuf"),
        (object(&[0x0b, 0x0c]), start + 1, "a group, which Kubernetes does not write"),
        (object(&[0x0c]), start + 1, "a group, which Kubernetes does not write"),
        (object(&[0x0f]), start + 1, "unknown wire type"),
        (object(&[0x02, 0x00]), start + 1, "invalid field number"),
        (object(&[0x80; 11]), start + 10, "a number of more than ten bytes"),
        (object(&[0x08, 0x80]), start + 2, "a field is longer than its message"),
        (object(&[0x0a, 0x05, 0x00]), start + 2, "a field is longer than its message"),
        (object(&[[0x0a].as_slice(), &varint(u64::MAX)].concat()), start + 11, "a field is longer than its message"),
        (object(&[0x09, 0x00]), start + 1, "a field is longer than its message"),
        (object(&bytes(1, [0x0a, 0x7f])), start + 4, "a field is longer than its message"),
        ([b"k8s\0".to_vec(), bytes(2, b"")].concat(), 6, "an object before its kind"),
        ([object(b""), bytes(4, "application/json")].concat(), start + 6, "an object in an encoding other than protobuf"),
    ] {
        let last = document(&body).pop();
        assert_eq!(last, Some(Fact::Malformed { at, what }), "{body:x?}");
        assert_eq!(read_as(BodyKind::Document, PROTOBUF, "", body.chunks(1)).pop(), last, "{body:x?}");
    }
}

#[test]
fn envelope_without_an_object_is_malformed() {
    let body = [b"k8s\0".to_vec(), bytes(1, bytes(2, "Pod"))].concat();
    assert_eq!(document(&body).pop(), Some(Fact::Malformed { at: body.len() as u64, what: "ends in the middle of a document" }));
}

#[test]
fn frame_longer_than_its_length_prefix_is_malformed() {
    let whole = watch();
    let length = u32::from_be_bytes(whole[..4].try_into().unwrap());
    let mut shortened = whole.clone();
    shortened[..4].copy_from_slice(&(length - 1).to_be_bytes());
    assert_eq!(events(&shortened), [Fact::Malformed { at: 14, what: "a field is longer than its message" }]);
}

#[test]
fn frame_shorter_than_its_length_prefix_is_malformed() {
    let whole = watch();
    let length = u32::from_be_bytes(whole[..4].try_into().unwrap());
    let mut lengthened = whole.clone();
    lengthened[..4].copy_from_slice(&(length + 1).to_be_bytes());
    // The first byte of the next frame's length is a tag without a number.
    assert_eq!(events(&lengthened), [Fact::Malformed { at: u64::from(length) + 5, what: "invalid field number" }]);
}

#[test]
fn unknown_fields_of_any_wire_type_are_skipped() {
    let unknown =
        [number(900, 7), bytes(901, [0xff; 40]), vec![0xf9, 0x3f, 1, 2, 3, 4, 5, 6, 7, 8], vec![0xfd, 0x3f, 1, 2, 3, 4]].concat();
    let metadata = [unknown.as_slice(), &object_meta("n", "a", "u", "1"), &unknown].concat();
    let pod = [unknown.as_slice(), &object(&metadata), &unknown].concat();
    assert_eq!(
        document(&envelope("v1", "Pod", &pod)),
        [kind("Pod", "v1"), Fact::Object(object_ref("n", "a", "u", "1")), Fact::Complete]
    );
}

#[test]
fn values_of_unexpected_wire_types_count_as_absent() {
    let metadata = [number(1, 5), vec![0x29, 1, 2, 3, 4, 5, 6, 7, 8], vec![0x35, 1, 2, 3, 4], bytes(3, "n")].concat();
    assert_eq!(document(&envelope("v1", "Pod", &bytes(1, metadata)))[1], Fact::Object(object_ref("n", "", "", "")));
    let list = [bytes(1, list_meta("9", "", None)), number(2, 1), bytes(2, number(1, 1))].concat();
    assert_eq!(document(&envelope("v1", "PodList", &list))[2], Fact::Item(object_ref("", "", "", "")));
}

#[test]
fn last_duplicate_field_counts() {
    let metadata = [bytes(1, "first"), bytes(1, "second")].concat();
    assert_eq!(document(&envelope("v1", "Pod", &bytes(1, metadata)))[1], Fact::Object(object_ref("", "second", "", "")));
}

#[test]
fn event_with_an_empty_object_has_no_object_reference() {
    let facts = events(&frame("ADDED", b""));
    assert!(matches!(&facts[..], [Fact::Frame(frame)] if frame.object == object_ref("", "", "", "")), "{facts:?}");
}

#[test]
fn inflating_stops_at_the_cap() {
    let bomb = gzip_member(&envelope("v1", "Secret", &bytes(2, vec![0; 10 << 20])));
    let mut reader = BodyReader::new(BodyKind::Document, PROTOBUF, "gzip").unwrap().with_inflate_cap(1 << 20);
    let mut facts = Vec::new();
    reader.push(&bomb, &mut |fact| facts.push(fact));
    assert_eq!(facts.pop(), Some(Fact::Malformed { at: 1 << 20, what: "inflates to more than the cap" }));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), end in 0_u32..400) {
        document(&bytes);
        document(&envelope("v1", "PodList", &bytes));
        document(&envelope("v1", "Status", &bytes));
        events(&bytes);
        events(&[end.to_be_bytes().as_slice(), &bytes].concat());
        events(&frame("BOOKMARK", &envelope("v1", "Pod", &bytes)));
    }
}
