//! Watch events.

use super::fixtures::WATCH;
use super::reading::{frames, object, read};
use crate::k8s::Status;
use crate::wire::{BodyKind, EventType, ObjectRef, WatchFrame};

#[test]
fn each_event_is_a_frame_with_its_object() {
    assert_eq!(
        types_and_objects(WATCH),
        [
            (EventType::Added, object("n", "a", "ua", "1")),
            (EventType::Modified, object("", "b", "ub", "2")),
            (EventType::Deleted, object("n", "c", "uc", "3")),
            (EventType::Bookmark, object("", "", "", "4")),
            (EventType::Error, ObjectRef::default()),
        ]
    );
}

#[test]
fn only_the_annotated_bookmark_ends_the_initial_events() {
    let plain = r#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"5"}}}"#;
    let ends: Vec<bool> = all_frames(&format!("{WATCH}{plain}")).iter().map(|frame| frame.initial_events_end).collect();
    assert_eq!(ends, [false, false, false, true, false, false]);
}

#[test]
fn bookmark_as_a_table_is_read_from_its_row() {
    let row = r#"{"cells":[""],"object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
    let [frame] = all_frames(&format!(
        r#"{{"type":"BOOKMARK","object":{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{}},"rows":[{row}]}}}}"#
    ))
    .try_into()
    .unwrap();
    assert_eq!((frame.object, frame.initial_events_end), (object("", "", "", "9"), true));
}

#[test]
fn table_without_objects_has_the_resource_version_of_its_row() {
    let table = r#"{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"rows":[{"cells":["a"],"object":null}]}}"#;
    assert_eq!(types_and_objects(table), [(EventType::Added, object("", "", "", "9"))]);
}

#[test]
fn error_carries_its_status() {
    let status = all_frames(WATCH).pop().unwrap().status.unwrap();
    assert_eq!(
        *status,
        Status {
            status: "Failure".into(),
            message: "too old resource version: 4 (9)".into(),
            reason: "Expired".into(),
            code: 410,
            ..Status::default()
        }
    );
}

#[test]
fn members_may_come_in_any_order() {
    let object_first = r#"{"object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"},"resourceVersion":"4"},"kind":"Pod"},"type":"BOOKMARK"}
        {"object":{"code":500,"reason":"InternalError","apiVersion":"v1","kind":"Status"},"type":"ERROR"}
        {"object":{"rows":[{"object":{"metadata":{"name":"r"}}},{"object":{"metadata":{"name":"s"}}}],"kind":"Table","apiVersion":"meta.k8s.io/v1beta1"},"type":"ADDED"}"#;
    let frames = all_frames(object_first);
    assert!(frames[0].initial_events_end);
    assert_eq!(frames[1].status.as_ref().map(|status| status.code), Some(500));
    assert_eq!(frames[2].object, object("", "r", "", ""));
}

#[test]
fn unknown_or_incomplete_events_are_still_frames() {
    let strange = r#"{"type":"added","object":{"metadata":{"name":"a"}}} {} {"type":"ADDED","object":null}{"object":{"metadata":{"name":"b"}}}"#;
    assert_eq!(
        types_and_objects(strange),
        [
            (EventType::Unknown, object("", "a", "", "")),
            (EventType::Unknown, ObjectRef::default()),
            (EventType::Added, ObjectRef::default()),
            (EventType::Unknown, object("", "b", "", "")),
        ]
    );
}

#[test]
fn nothing_of_one_event_is_left_in_the_next() {
    let empty = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1"}}{"type":"BOOKMARK","object":{}}"#;
    let mut frames = all_frames(&format!("{WATCH}{empty}"));
    let (bookmark, error) = (frames.pop().unwrap(), frames.pop().unwrap());
    assert_eq!(error.status.as_deref(), Some(&Status::default()));
    assert_eq!((bookmark.object, bookmark.initial_events_end, bookmark.status), (ObjectRef::default(), false, None));
}

#[test]
fn every_byte_but_the_last_newline_belongs_to_one_frame() {
    let bytes: Vec<u64> = all_frames(WATCH).iter().map(|frame| frame.bytes).collect();
    let lines: Vec<u64> = WATCH.lines().map(|line| line.len() as u64).collect();
    assert_eq!(bytes, [lines[0], lines[1] + 1, lines[2] + 1, lines[3] + 1, lines[4] + 1]);
}

#[track_caller]
fn all_frames(body: &str) -> Vec<WatchFrame> {
    frames(read(BodyKind::Watch, body))
}

#[track_caller]
fn types_and_objects(body: &str) -> Vec<(EventType, ObjectRef)> {
    all_frames(body).into_iter().map(|frame| (frame.event_type, frame.object)).collect()
}
