//! Protobuf as kube-apiserver writes it.

use super::protobuf_bytes::{bytes, envelope, frame, list_meta as list_meta_bytes, number, object as object_bytes, object_meta};
use super::protobuf_bytes::{pod_list, too_large, watch};
use super::reading::{PROTOBUF, frames, kind, list_meta, object, read_as};
use crate::k8s::{Status, StatusCause};
use crate::wire::{BodyKind, BodyReader, EventType, Fact, ObjectRef};

#[test]
fn list_reports_metadata_before_items() {
    assert_eq!(
        document(&pod_list()),
        [
            kind("PodList", "v1"),
            list_meta("4711", "token", Some(17)),
            Fact::Item(object("shop", "web-0", "u0", "4001")),
            Fact::Item(object("", "node-like", "u1", "4002")),
            Fact::Complete,
        ]
    );
}

#[test]
fn lists_without_items_are_lists() {
    for name in ["PodList", "PartialObjectMetadataList"] {
        let list = bytes(1, list_meta_bytes("7", "", None));
        assert_eq!(document(&envelope("v1", name, &list)), [kind(name, "v1"), list_meta("7", "", None), Fact::Complete]);
    }
}

#[test]
fn object_is_reported_at_the_end_of_the_body() {
    let pod = envelope("v1", "Pod", &object_bytes(&object_meta("n", "a", "u", "1")));
    assert_eq!(document(&pod), [kind("Pod", "v1"), Fact::Object(object("n", "a", "u", "1")), Fact::Complete]);
}

#[test]
fn metadata_alone_is_an_object() {
    let partial = envelope("meta.k8s.io/v1", "PartialObjectMetadata", &bytes(1, object_meta("n", "a", "u", "1")));
    assert_eq!(document(&partial)[1], Fact::Object(object("n", "a", "u", "1")));
}

#[test]
fn status_keeps_cause_and_delay() {
    let status = Status {
        status: "Failure".into(),
        message: "Timeout: Too large resource version: 900, current: 812".into(),
        reason: "Timeout".into(),
        code: 504,
        retry_after_seconds: Some(1),
        causes: vec![StatusCause {
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".into(),
            field: String::new(),
        }],
        continue_token: String::new(),
    };
    assert_eq!(document(&too_large()), [kind("Status", "v1"), Fact::Status(Box::new(status)), Fact::Complete]);
}

#[test]
fn only_as_many_causes_are_kept_as_in_json() {
    let causes = bytes(4, bytes(1, "R")).repeat(40);
    let status = envelope("v1", "Status", &[bytes(5, [causes, number(5, 9)].concat()), number(6, 500)].concat());
    let Some(Fact::Status(status)) = document(&status).into_iter().nth(1) else { panic!("no status") };
    assert_eq!((status.causes.len(), status.retry_after_seconds, status.code), (Status::MAX_CAUSES, Some(9), 500));
}

#[test]
fn zero_retry_seconds_count_as_absent() {
    let status = envelope("v1", "Status", &bytes(5, number(5, 0)));
    let Some(Fact::Status(status)) = document(&status).into_iter().nth(1) else { panic!("no status") };
    assert_eq!(status.retry_after_seconds, None);
}

#[test]
fn each_frame_is_an_event_with_its_object() {
    let emitted: Vec<_> = frames(events(&watch())).into_iter().map(|frame| (frame.event_type, frame.object)).collect();
    assert_eq!(
        emitted,
        [
            (EventType::Added, object("n", "a", "u", "1")),
            (EventType::Modified, object("n", "b", "u", "2")),
            (EventType::Deleted, object("n", "c", "u", "3")),
            (EventType::Bookmark, object("", "", "", "4")),
            (EventType::Error, ObjectRef::default()),
        ]
    );
}

#[test]
fn only_the_annotated_bookmark_ends_the_initial_events() {
    let ends: Vec<bool> = frames(events(&watch())).iter().map(|frame| frame.initial_events_end).collect();
    assert_eq!(ends, [false, false, false, true, false]);
    let other = [bytes(6, "4"), bytes(12, [bytes(1, "k8s.io/initial-events-begin"), bytes(2, "true")].concat())].concat();
    let bookmark = frame("BOOKMARK", &envelope("v1", "Pod", &bytes(1, other)));
    assert!(!frames(events(&bookmark))[0].initial_events_end);
}

#[test]
fn error_carries_its_status() {
    let status = frames(events(&watch())).pop().unwrap().status.unwrap();
    assert_eq!((status.code, status.causes.len()), (504, 1));
}

#[test]
fn every_frame_is_reported_at_its_last_byte() {
    let whole = watch();
    let mut reader = BodyReader::new(BodyKind::Watch, PROTOBUF, "").unwrap();
    let mut ends = Vec::new();
    for (index, byte) in whole.iter().enumerate() {
        reader.push(&[*byte], &mut |fact| ends.push((fact, index as u64 + 1)));
    }
    let mut sum = 0;
    for (fact, end) in ends {
        let Fact::Frame(frame) = fact else { panic!("{fact:?}") };
        sum += frame.bytes;
        assert_eq!(sum, end);
    }
    assert_eq!(sum, whole.len() as u64);
}

#[test]
fn kept_strings_are_cut_at_their_bounds() {
    let long = "é".repeat(1000);
    let pod = envelope("v1", "Pod", &bytes(1, object_meta("n", &long, "u", "1")));
    for chunk in [7, pod.len()] {
        let facts = read_as(BodyKind::Document, PROTOBUF, "", pod.chunks(chunk));
        assert_eq!(facts[1], Fact::Object(object("n", &long[..ObjectRef::MAX_TEXT], "u", "1")));
    }
}

#[test]
fn parameters_of_the_media_type_change_nothing() {
    let facts = read_as(BodyKind::Watch, "application/vnd.kubernetes.protobuf;stream=watch", "", [watch().as_slice()]);
    assert_eq!(facts, events(&watch()));
}

pub(super) fn document(bytes: &[u8]) -> Vec<Fact> {
    read_as(BodyKind::Document, PROTOBUF, "", [bytes])
}

pub(super) fn events(bytes: &[u8]) -> Vec<Fact> {
    read_as(BodyKind::Watch, PROTOBUF, "", [bytes])
}
