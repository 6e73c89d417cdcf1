//! Observations of logs, which have neither bodies nor events.

use super::super::{Limits, Observer, Snapshot};
use crate::finding_kind::FindingKind;
use crate::logs::LogReplay;
use crate::reflector::ReflectorState;

/// An event: stage, audit ID, second of receipt, second of the stage, verb, URI, user and status.
fn event((stage, id, received, reached): (&str, &str, u64, u64), verb: &str, uri: &str, user: &str, code: u16) -> String {
    let time = |second: u64| format!("2026-11-22T02:{:02}:{:02}Z", second / 60, second % 60);
    let (received, reached) = (time(received), time(reached));
    format!(
        r#"{{"auditID":"{id}","stage":"{stage}","requestURI":"{uri}","verb":"{verb}","user":{{"username":"{user}"}},"responseStatus":{{"code":{code}}},"requestReceivedTimestamp":"{received}","stageTimestamp":"{reached}"}}"#
    )
}

/// The snapshot after these lines.
fn observed(lines: &[String]) -> Snapshot {
    let (mut replay, mut observer) = (LogReplay::default(), Observer::new(Limits::default()));
    for line in lines {
        replay.line(0, line.as_bytes(), &mut |observation| observer.observe(observation, &mut |_| {}));
    }
    replay.finish(&mut |observation| observer.observe(observation, &mut |_| {}));
    observer.snapshot()
}

#[test]
fn logged_streaming_list_is_complete_when_it_is_answered() {
    const STREAMING: &str =
        "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let list = |second: u64| event(("ResponseComplete", &second.to_string(), second, second), "list", "/api/v1/nodes", "v", 200);
    let mut lines = vec![event(("ResponseStarted", "a", 1, 2), "watch", STREAMING, "u", 200)];
    lines.extend((3..200).map(list));
    let snapshot = observed(&lines);
    let never_synced = snapshot.findings.iter().filter(|finding| finding.kind == FindingKind::NeverSynced).count();
    assert_eq!(never_synced, 0, "{:?}", snapshot.findings);
    let pods = snapshot.reflectors.iter().find(|row| row.shape.resource == "pods").unwrap();
    assert_eq!(pods.state, ReflectorState::Watching);
}

#[test]
fn revision_of_a_logged_list_is_that_of_its_watch() {
    const WATCH_FROM_LIST: &str = "/api/v1/pods?watch=true&resourceVersion=100&timeoutSeconds=5";
    let list =
        |id: &str, second| event(("ResponseComplete", id, second, second), "list", "/api/v1/pods?resourceVersion=0", "u", 200);
    let lines = [
        list("a", 1),
        event(("ResponseStarted", "b", 2, 2), "watch", WATCH_FROM_LIST, "u", 200),
        event(("ResponseComplete", "b", 2, 7), "watch", WATCH_FROM_LIST, "u", 200),
        event(("ResponseComplete", "c", 8, 8), "watch", WATCH_FROM_LIST, "u", 410),
        list("d", 9),
        event(("ResponseStarted", "e", 10, 10), "watch", WATCH_FROM_LIST, "u", 200),
    ];
    let row = observed(&lines).reflectors.pop().unwrap();
    assert_eq!(row.resource_version, Some(100));
    // The revision was 7 s old, so the client had not been away.
    assert_eq!(row.causes.keys().collect::<Vec<_>>(), ["expired/window-passed"]);
}
