//! Tests of the store: revisions, histories, conflicts, compaction and bounds.

use serde_json::json;

use super::*;

const BOUNDS: Bounds = Bounds { objects: 10, bytes: 10_000, changes: 8 };

#[test]
fn each_write_gives_its_object_the_next_revision() {
    let mut store = Store::new(BOUNDS);
    let first = store.put("/registry/pods/a/x", 0, named("x")).unwrap();
    let second = store.put("/registry/pods/a/y", 0, named("y")).unwrap();
    assert_eq!((first.revision, second.revision, store.revision()), (2, 3, 3));
    assert_eq!(second.object.text("/metadata/resourceVersion"), "3");
}

#[test]
fn old_revisions_are_readable_until_compaction() {
    let mut store = Store::new(BOUNDS);
    store.put("/registry/pods/a/x", 0, named("x")).unwrap();
    store.put("/registry/pods/a/y", 0, named("y")).unwrap();
    store.delete("/registry/pods/a/x", 2).unwrap();
    store.put("/registry/podtemplates/a/z", 0, named("z")).unwrap();
    assert_eq!(names(&store, 2).unwrap(), ["x"]);
    assert_eq!(names(&store, 3).unwrap(), ["x", "y"]);
    assert_eq!(names(&store, 5).unwrap(), ["y"]);
    assert_eq!(names(&store, 6), Err(ReadError::Future));
    store.compact(4);
    assert_eq!(names(&store, 3), Err(ReadError::Compacted));
    assert_eq!(names(&store, 4).unwrap(), ["y"]);
}

#[test]
fn range_starts_after_the_key_of_a_token() {
    let mut store = Store::new(BOUNDS);
    for name in ["a", "b", "c"] {
        store.put(&format!("/registry/pods/n/{name}"), 0, named(name)).unwrap();
    }
    let rest: Vec<_> =
        store.range("/registry/pods/", "/registry/pods/n/a\0", 4).unwrap().map(|entry| entry.object.name().to_owned()).collect();
    assert_eq!(rest, ["b", "c"]);
}

#[test]
fn write_against_another_revision_is_a_conflict() {
    let mut store = Store::new(BOUNDS);
    store.put("/registry/pods/a/x", 0, named("x")).unwrap();
    for outcome in [
        store.put("/registry/pods/a/x", 0, named("x")).map(|_| ()),
        store.put("/registry/pods/a/x", 7, named("x")).map(|_| ()),
        store.delete("/registry/pods/a/x", 7).map(|_| ()),
        store.delete("/registry/pods/a/none", 0).map(|_| ()),
    ] {
        assert_eq!(outcome, Err(WriteError::Conflict));
    }
    assert_eq!(store.revision(), 2, "nothing was written");
}

#[test]
fn changes_since_a_revision_carry_the_previous_object() {
    let mut store = Store::new(BOUNDS);
    store.put("/registry/pods/a/x", 0, named("x")).unwrap();
    store.put("/registry/nodes/n", 0, named("n")).unwrap();
    store.delete("/registry/pods/a/x", 2).unwrap();
    let changes: Vec<_> = store.changes_since("/registry/pods/", 2).unwrap().collect();
    let [deleted] = changes.as_slice() else { panic!("one change: {changes:?}") };
    assert!(deleted.deleted);
    assert_eq!((deleted.revision, deleted.object.revision()), (4, 4));
    assert_eq!(deleted.previous.as_ref().map(|object| object.revision()), Some(2));
}

#[test]
fn full_history_is_compacted_early_and_counted() {
    let mut store = Store::new(BOUNDS);
    let mut revision = 0;
    for _ in 0..20 {
        revision = store.put("/registry/pods/a/x", revision, named("x")).unwrap().revision;
    }
    assert!(store.early_compactions() > 0);
    assert!(store.changes_since("/registry/pods/", 2).is_err());
    assert!(store.changes_since("/registry/pods/", revision - 1).is_ok());
}

#[test]
fn writes_beyond_the_store_bounds_are_refused() {
    let mut store = Store::new(BOUNDS);
    for number in 0..BOUNDS.objects {
        store.put(&format!("/registry/pods/a/{number}"), 0, named("x")).unwrap();
    }
    assert_eq!(store.put("/registry/pods/a/more", 0, named("x")).map(|_| ()), Err(WriteError::Full));
    let large = json!({"metadata": {"name": "0"}, "data": "x".repeat(BOUNDS.bytes)});
    let present = store.get("/registry/pods/a/0").unwrap().revision();
    assert_eq!(store.put("/registry/pods/a/0", present, large).map(|_| ()), Err(WriteError::Full));
}

fn named(name: &str) -> serde_json::Value {
    json!({"metadata": {"name": name}})
}

fn names(store: &Store, revision: u64) -> Result<Vec<String>, ReadError> {
    Ok(store.range("/registry/pods/", "", revision)?.map(|entry| entry.object.name().to_owned()).collect())
}
