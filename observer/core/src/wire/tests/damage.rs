//! Invalid bodies.

use proptest::prelude::*;

use super::fixtures::{ALL, POD_LIST, WATCH};
use super::reading::{gzip_member, read, read_in_chunks};
use crate::wire::{BodyKind, BodyReader, Fact, Unsupported};

#[test]
fn document_that_ends_early_is_malformed_at_its_end() {
    for end in 1..POD_LIST.len() - 1 {
        let last = read(BodyKind::Document, &POD_LIST[..end]).pop();
        assert_eq!(last, Some(Fact::Malformed { at: end as u64, what: "ends in the middle of a document" }));
    }
    assert_eq!(read(BodyKind::Document, " \n"), [Fact::Malformed { at: 2, what: "no document" }]);
}

#[test]
fn watch_is_well_formed_only_if_it_ends_between_events() {
    let first = WATCH.lines().next().unwrap().len();
    assert!(matches!(read(BodyKind::Watch, &WATCH[..=first])[..], [Fact::Frame(_)]));
    assert_eq!(
        read(BodyKind::Watch, &WATCH[..first + 10])[1],
        Fact::Malformed { at: first as u64 + 10, what: "ends in the middle of a watch event" }
    );
    assert_eq!(read(BodyKind::Watch, ""), []);
}

#[test]
fn errors_are_reported_with_their_position() {
    for (body, at, what) in [
        ("\u{feff}{}", 0, "not a JSON object"),
        (" [1]", 1, "not a JSON object"),
        (r#"{"a":1,}"#, 7, "a member name is expected"),
        (r"{a:1}", 1, "a member name is expected"),
        (r#"{"a" 1}"#, 5, "a colon is expected"),
        (r#"{"a":}"#, 5, "a value is expected"),
        (r#"{"a":nul}"#, 8, "a value is expected"),
        (r#"{"a":1 2}"#, 7, "a comma or a closing bracket is expected"),
        (r#"{"items":[1,]}"#, 12, "a value is expected"),
        (r#"{"items":[1}"#, 11, "a comma or a closing bracket is expected"),
        (r#"{"kind":"\x"}"#, 10, "unknown escape in a string"),
        (r"{} {}", 3, "bytes after the document"),
    ] {
        assert_eq!(read(BodyKind::Document, body).pop(), Some(Fact::Malformed { at, what }), "{body}");
    }
}

#[test]
fn nothing_follows_a_malformed_event() {
    let facts = read(BodyKind::Watch, format!("}}\n{WATCH}"));
    assert_eq!(facts, [Fact::Malformed { at: 0, what: "not a JSON object" }]);
}

#[test]
fn other_types_and_codings_are_refused() {
    let open = |content_type, coding| BodyReader::new(BodyKind::Watch, content_type, coding).err();
    assert_eq!(open("application/yaml", ""), Some(Unsupported::MediaType));
    assert_eq!(open("application/json", "br"), Some(Unsupported::ContentCoding));
    assert_eq!(open("application/json;stream=watch", "identity"), None);
}

#[test]
fn deep_nesting_is_skipped() {
    let deep = "[".repeat(1_000_000);
    let body = format!(r#"{{"kind":"P","apiVersion":"v1","spec":{deep}{}}}"#, deep.replace('[', "]"));
    assert_eq!(read(BodyKind::Document, body).pop(), Some(Fact::Complete));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for kind in [BodyKind::Document, BodyKind::Watch] {
            read(kind, &bytes);
            read_in_chunks(kind, "gzip", [bytes.as_slice()]);
            read_in_chunks(kind, "gzip", [gzip_member(&bytes).as_slice()]);
        }
    }

    #[test]
    fn nothing_follows_a_malformed_fact(
        (kind, body) in prop::sample::select(ALL.as_slice()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(br#" "\{}[]:,0an"#.as_slice())), 1..6),
    ) {
        let mut damaged = body.as_bytes().to_vec();
        for (place, byte) in changes {
            damaged[place.index(body.len())] = byte;
        }
        let facts = read(kind, &damaged);
        let first = facts.iter().position(|fact| matches!(fact, Fact::Malformed { .. }));
        prop_assert!(first.is_none_or(|first| first + 1 == facts.len()), "{:?}", facts);
    }
}
