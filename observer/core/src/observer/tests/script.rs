//! Plays a script of observations, written as text, and prints events and snapshots as text.
//!
//! A line is `TIME WORDS`: `0s version v1.34.4`, `0s open 1`, `1ms 1/3 GET /api/v1/pods?limit=500`, `4ms 1/3 <- 200`,
//! `5ms 1/3 list rv=17 items=500`, `6ms 1/3 event ADDED default/a rv=18`, `9s 1/3 end`. `C/S` is connection and stream.
//! ` at NAME` after `version`, `open` or `refusing` names the API server. `unrecorded` is a span that a capture lacks.

use expect_test::{Expect, expect};

use super::super::*;
use crate::http::{Direction, Protocol, StreamId};
use crate::k8s::{ListOptions, RequestInfo, Status, StatusCause, Verb};
use crate::observation::{
    Body, BodyNotRead, CaptureObservation, ConnectionEnd, ConnectionId, ConnectionObservation, EndManner, ExchangeEnd, ExchangeId,
    ExchangeObservation, ListenerState, Observation, RequestLine, ResponseLine, Subject, UpstreamName, UpstreamObservation,
};
use crate::routing::{Basis, ServedFrom, ServerProfile};
use crate::time::Timestamp;
use crate::wire::{EventType, ListMeta, ObjectRef, WatchFrame};

#[test]
fn pages_of_a_list_are_followed_from_cache_to_snapshot() {
    check(
        "0s version v1.34.4
         0s open 1
         1ms 1/1 GET /api/v1/configmaps?limit=500
         5ms 1/1 <- 200
         6ms 1/1 list rv=100 items=500
         6ms 1/1 end
         7ms 1/3 GET /api/v1/configmaps?limit=500&continue=@100
         8ms 1/3 <- 200
         9ms 1/3 list rv=100 items=200
         9ms 1/3 end",
        &expect![[r"
            6ms request list configmaps · all namespaces · limit=500 → 200 CacheConsistent items=500
            9ms request list configmaps · all namespaces · continue · limit=500 → 200 Snapshot items=200
            2 requests, 2 lists (0 etcd, 0 unknown), 700 items
        "]],
    );
}

#[test]
fn exact_revision_is_a_snapshot_only_if_this_run_saw_it() {
    check(
        "0s version v1.34.4
         0s open 1
         1s 1/1 GET /api/v1/configmaps?resourceVersion=0
         1s 1/1 <- 200
         1s 1/1 list rv=100 items=3
         1s 1/1 end
         70s 1/3 GET /api/v1/configmaps?resourceVersion=100&limit=3
         70s 1/3 <- 200
         70s 1/3 end
         71s 1/5 GET /api/v1/configmaps?resourceVersion=7&limit=3
         71s 1/5 <- 200
         71s 1/5 end
         72s 1/7 GET /api/v1/secrets?resourceVersion=100&limit=3
         72s 1/7 <- 200
         72s 1/7 end",
        &expect![[r"
            1s request list configmaps · all namespaces · RV=0 → 200 Cache items=3
            70s request list configmaps · all namespaces · RV=N · limit=3 → 200 Snapshot items=0
            71s request list configmaps · all namespaces · RV=N · limit=3 → 200 Unknown{Snapshot,Etcd} items=0
            72s request list secrets · all namespaces · RV=N · limit=3 → 200 Unknown{Snapshot,Etcd} items=0
            4 requests, 4 lists (0 etcd, 2 unknown), 3 items
        "]],
    );
}

#[test]
fn snapshots_are_unknown_after_the_server_refuses_connections() {
    check(
        "0s version v1.34.4
         0s open 1
         1s 1/1 GET /api/v1/configmaps
         1s 1/1 <- 200
         1s 1/1 list rv=100 items=3
         1s 1/1 end
         2s refusing
         3s 1/3 GET /api/v1/configmaps?resourceVersion=100&resourceVersionMatch=Exact
         3s 1/3 <- 200
         3s 1/3 end",
        &expect![[r"
            1s request list configmaps · all namespaces → 200 CacheConsistent items=3
            2s listener Refusing
            3s request list configmaps · all namespaces · RV=N match=Exact → 200 Unknown{Snapshot,Etcd} items=0
            2 requests, 2 lists (0 etcd, 1 unknown), 3 items
        "]],
    );
}

#[test]
fn watch_reports_its_start_events_and_end() {
    check(
        "0s version v1.34.4
         0s open 1
         1s 1/1 GET /api/v1/configmaps?watch=true&resourceVersion=7&allowWatchBookmarks=true
         1s 1/1 <- 200
         2s 1/1 event ADDED default/a rv=8
         3s 1/1 event BOOKMARK / rv=9
         60s 1/1 event ERROR 410 Expired
         60s 1/1 end",
        &expect![[r"
            1s watch-opened watch configmaps · all namespaces · RV=N → 200 Cache items=0
            60s watch-ended watch configmaps · all namespaces · RV=N → 200 Cache items=0 events=1 bookmarks=1 last=9 error=410
            1 requests, 0 lists (0 etcd, 0 unknown), 0 items
        "]],
    );
}

#[test]
fn refused_requests_are_not_reads() {
    check(
        "0s version v1.30.1
         0s open 1
         1s 1/1 GET /api/v1/pods
         1s 1/1 <- 403
         1s 1/1 end
         2s 1/3 GET /api/v1/pods
         2s 1/3 <- 200
         2s 1/3 list rv=5 items=2
         2s 1/3 end",
        &expect![[r"
            1s request list pods · all namespaces → 403 Rejected items=0
            2s request list pods · all namespaces → 200 Etcd items=2
            2 requests, 2 lists (1 etcd, 0 unknown), 2 items
        "]],
    );
}

#[test]
fn verdict_without_a_version_is_unknown() {
    let (snapshot, _) = play(
        "0s open 1
         1s 1/1 GET /api/v1/pods
         1s 1/1 <- 200
         1s 1/1 end",
        Limits::default(),
    );
    let verdict = snapshot.requests[0].verdict.clone().unwrap();
    assert!(matches!(verdict.served_from, ServedFrom::Unknown { .. }), "{verdict:?}");
}

#[test]
fn tables_are_bounded_and_count_dropped_rows() {
    let script: String = (0..40)
        .flat_map(|n| [format!("1s 1/{n} GET /api/v1/namespaces/n{n}/pods"), format!("2s 1/{n} <- 200"), format!("3s 1/{n} end")])
        .collect::<Vec<_>>()
        .join("\n");
    let limits = Limits { open_exchanges: 8, connections: 2, records: 4, rows: 8, upstreams: 2, histories: 1, ..Limits::default() };
    let (snapshot, _) = play(&script, limits);
    assert_eq!(snapshot.totals.requests, 40);
    assert_eq!((snapshot.requests.len(), snapshot.missed.records_dropped), (4, 36));
    assert_eq!((snapshot.lists.len(), snapshot.missed.rows_dropped), (8, 32));

    assert_eq!((snapshot.reflectors.len(), snapshot.missed.reflectors_not_shown), (8, 32));

    let opened: Vec<String> = (0..40).map(|n| format!("1s 1/{n} GET /api/v1/pods")).collect();
    let (snapshot, _) = play(&opened.join("\n"), limits);
    assert_eq!((snapshot.totals.open, snapshot.missed.exchanges_dropped), (8, 32));
    assert_eq!((snapshot.requests.len(), snapshot.missed.open_not_shown), (4, 4));

    let connected: Vec<String> = (1..=5).map(|n| format!("1s open {n}")).collect();
    let (snapshot, _) = play(&connected.join("\n"), limits);
    assert_eq!((snapshot.totals.connections, snapshot.missed.connections_forgotten), (5, 3));
}

#[test]
fn missed_bytes_and_bodies_are_counted_and_reported() {
    let (snapshot, events) = play(
        "0s open 1
         1s 1/1 GET /api/v1/pods
         1s 1/1 <- 200
         1s 1/1 missed 4096
         1s 1/1 unread application/x-custom
         2s 1/1 end",
        Limits::default(),
    );
    assert_eq!((snapshot.missed.bytes, snapshot.missed.gaps), (4096, 1));
    assert_eq!(snapshot.missed.bodies.get("application/x-custom"), Some(&1));
    assert_eq!(snapshot.requests[0].missed_bytes, 4096);
    assert!(events.iter().any(|event| matches!(event, Event::Missed { bytes: 4096, .. })));
}

#[test]
fn answer_that_contradicts_its_verdict_is_reported_once_with_both_sides() {
    check(
        "0s version v1.34.4
         0s open 1
         500ms 1/9 GET /api/v1/secrets
         500ms 1/9 <- 200
         500ms 1/9 list rv=80 items=1
         500ms 1/9 end
         1s 1/1 GET /api/v1/configmaps?limit=2&resourceVersion=0
         1s 1/1 <- 200
         1s 1/1 list rv=100 items=3
         1s 1/1 end
         2s 1/3 GET /api/v1/secrets
         2s 1/3 <- 200
         2s 1/3 list rv=90 items=1
         3s 1/3 end
         4s 1/5 GET /api/v1/secrets
         4s 1/5 <- 200
         4s 1/5 list rv=90 items=1
         4s 1/5 end
         5s 1/7 GET /api/v1/configmaps?watch=1&resourceVersionMatch=NotOlderThan
         5s 1/7 <- 200
         9s 1/7 end",
        &expect![[r"
            500ms request list secrets · all namespaces → 200 CacheConsistent items=1
            1s request list configmaps · all namespaces · RV=0 · limit=2 → 200 Cache items=3
            3s contradicted secrets · all namespaces: CacheConsistent by list-unset-consistent, Cache by behind-what-was-seen
            3s request list secrets · all namespaces → 200 Cache items=1
            4s request list secrets · all namespaces → 200 CacheConsistent items=1
            5s contradicted configmaps · all namespaces: Rejected by refused-match-on-watch, Unknown{Cache,CacheConsistent,Snapshot,Etcd} by not-refused
            5s watch-opened watch configmaps · all namespaces → 200 Unknown{Cache,CacheConsistent,Snapshot,Etcd} items=0
            9s watch-ended watch configmaps · all namespaces → 200 Unknown{Cache,CacheConsistent,Snapshot,Etcd} items=0 events=0 bookmarks=0 last= error=0
            5 requests, 4 lists (0 etcd, 0 unknown), 6 items
        "]],
    );
}

#[test]
fn refusal_reason_of_a_watch_is_read_from_its_body() {
    let watch = "GET /api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let script = format!(
        "0s version v1.34.4
         0s open 1
         1s 1/1 {watch}
         1s 1/1 <- 422
         1s 1/1 status 422 Invalid sendInitialEvents
         2s 1/1 end
         3s 1/3 GET /api/v1/pods
         3s 1/3 <- 403
         3s 1/3 end"
    );
    let (snapshot, _) = play(&script, Limits::default());
    let proofs: Vec<&str> = snapshot.requests.iter().filter_map(|record| Some(record.verdict.as_ref()?.proof?.as_str())).collect();
    assert_eq!(proofs, ["refused-by-validation", "refused-before-storage"]);
    assert_eq!((snapshot.totals.confirmed, snapshot.totals.contradicted), (0, 1), "who is not let in says nothing of the layer");
}

#[test]
fn resource_with_its_own_etcd_is_detected_once() {
    let list = |second: u32, resource: &str, revision: u32| {
        format!(
            "{second}s 1/{second} GET /api/v1/{resource}\n{second}s 1/{second} <- 200\n\
             {second}s 1/{second} list rv={revision} items=1\n{second}s 1/{second} end\n"
        )
    };
    let lists = [("pods", 100), ("secrets", 101), ("pods", 102), ("secrets", 90), ("secrets", 91), ("pods", 92), ("secrets", 93)];
    let script: String = (1..).zip(lists).map(|(second, (resource, revision))| list(second, resource, revision)).collect();
    let (snapshot, _) = play(&format!("0s version v1.34.4\n0s open 1\n{script}"), Limits::default());
    assert_eq!(snapshot.totals.contradicted, 1, "secrets went back below themselves: all was of another time");

    let lists =
        [("pods", 100), ("secrets", 101), ("pods", 200), ("secrets", 102), ("secrets", 103), ("pods", 201), ("secrets", 104)];
    let script: String = (1..).zip(lists).map(|(second, (resource, revision))| list(second, resource, revision)).collect();
    let (snapshot, _) = play(&format!("0s version v1.34.4\n0s open 1\n{script}"), Limits::default());
    assert_eq!(snapshot.totals.contradicted, 1, "secrets have revisions of their own");
}

#[test]
fn resources_without_a_shared_etcd_are_not_compared() {
    let script = "0s version v1.34.4
         0s open 1
         1s 1/1 GET /api/v1/events
         1s 1/1 <- 200
         1s 1/1 list rv=9000 items=3
         1s 1/1 end
         2s 1/3 GET /api/v1/secrets
         2s 1/3 <- 200
         2s 1/3 list rv=90 items=1
         3s 1/3 end";
    let (snapshot, _) = play(script, Limits::default());
    assert_eq!((snapshot.totals.confirmed, snapshot.totals.contradicted), (0, 0));
}

#[test]
fn each_api_server_has_its_version_and_its_revisions() {
    check(
        "0s version v1.34.4 at a:6443
         0s version v1.30.4 at b:6443
         0s open 1 at a:6443
         0s open 2 at b:6443
         1s 1/1 GET /api/v1/configmaps?resourceVersion=0
         1s 1/1 <- 200
         1s 1/1 list rv=100 items=1
         1s 1/1 end
         2s 2/1 GET /api/v1/configmaps?limit=500
         2s 2/1 <- 200
         2s 2/1 list rv=7 items=1
         2s 2/1 end
         3s refusing at b:6443
         4s 1/3 GET /api/v1/configmaps?resourceVersion=100&limit=3
         4s 1/3 <- 200
         4s 1/3 end",
        &expect![[r"
            1s request list configmaps · all namespaces · RV=0 · at a:6443 → 200 Cache items=1
            2s request list configmaps · all namespaces · limit=500 · at b:6443 → 200 Etcd items=1
            3s listener Refusing
            4s request list configmaps · all namespaces · RV=N · limit=3 · at a:6443 → 200 Snapshot items=0
            3 requests, 3 lists (1 etcd, 0 unknown), 2 items
        "]],
    );
}

#[test]
fn api_server_is_named_only_if_several_are_used() {
    let script = "0s version v1.34.4 at a:6443
         0s open 1 at b:6443
         0s version v1.30.4 at b:6443
         1s 1/1 GET /api/v1/configmaps?limit=500
         1s 1/1 <- 200
         1s 1/1 end";
    let (snapshot, _) = play(script, Limits::default());
    assert_eq!(snapshot.lists[0].shape.upstream, None);
    assert_eq!(snapshot.profile.version.as_ref().unwrap().to_string(), "v1.30.4", "that of the one that was used");
    assert!(snapshot.upstreams.is_empty());

    let (snapshot, _) = play(&format!("{script}\n2s open 2 at a:6443"), Limits::default());
    assert_eq!(snapshot.lists[0].shape.upstream, Some(UpstreamName("b:6443".to_owned())));
    let used: Vec<_> = snapshot.upstreams.iter().map(|one| (one.upstream.0.as_str(), one.connections)).collect();
    assert_eq!(used, [("a:6443", 1), ("b:6443", 1)]);
}

#[test]
fn api_servers_beyond_the_limit_are_counted() {
    let script =
        "0s version v1.34.4 at a\n0s version v1.34.4 at b\n0s open 1 at c\n1s 1/1 GET /api/v1/pods\n1s 1/1 <- 200\n1s 1/1 end";
    let (snapshot, _) = play(script, Limits { upstreams: 2, ..Limits::default() });
    assert_eq!((snapshot.missed.upstreams_dropped, snapshot.totals.lists_unknown), (1, 1));
}

#[track_caller]
pub(super) fn check(script: &str, expected: &Expect) {
    let (snapshot, events) = play(script, Limits::default());
    let mut text: String = events.iter().filter_map(describe).map(|line| line + "\n").collect();
    let totals = &snapshot.totals;
    let sums = format!(
        "{} requests, {} lists ({} etcd, {} unknown), {} items\n",
        totals.requests, totals.lists, totals.lists_from_etcd, totals.lists_unknown, totals.items
    );
    text.push_str(&sums);
    expected.assert_eq(&text);
}

pub(super) fn play(script: &str, limits: Limits) -> (Snapshot, Vec<Event>) {
    let mut observer = Observer::new(limits);
    let mut events = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (time, words) = line.split_once(' ').unwrap();
        let at = Timestamp::default().plus(humantime::parse_duration(time).unwrap());
        for subject in parse(words) {
            observer.observe(Observation { at, subject }, &mut |event| events.push(event));
        }
    }
    (observer.snapshot(), events)
}

fn parse(words: &str) -> Vec<Subject> {
    let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
    let (rest, upstream) = rest.split_once(" at ").unwrap_or((rest, ""));
    let upstream = UpstreamName(upstream.to_owned());
    match first {
        "version" => {
            let profile = Box::new(ServerProfile::of_version(rest.parse().unwrap(), Basis::VersionEndpoint));
            vec![Subject::Upstream(upstream, UpstreamObservation::Profile { profile })]
        }
        "open" | "late" => {
            let (protocol, attached_late, container_name) = (Some(Protocol::Http2), first == "late", None);
            let opened =
                ConnectionObservation::Opened { upstream, protocol, process: None, container_name, attached_late, logged: None };
            vec![Subject::Connection(ConnectionId(rest.parse().unwrap()), opened)]
        }
        "unrecorded" => vec![Subject::Capture(CaptureObservation::Unrecorded { observations: None, from: None, until: None })],
        "refusing" => vec![Subject::Upstream(upstream, UpstreamObservation::Listener { state: ListenerState::Refusing })],
        id => {
            let (connection, stream) = id.split_once('/').unwrap();
            let (connection, stream) = (ConnectionId(connection.parse().unwrap()), StreamId(stream.parse().unwrap()));
            let gap = rest.strip_prefix("missed ").map(|bytes| {
                let (stream, direction, bytes) = (Some(stream), Direction::Response, bytes.parse().unwrap());
                Subject::Connection(connection, ConnectionObservation::Gap { stream, direction, bytes })
            });
            let exchange = ExchangeId { connection, stream };
            gap.into_iter().chain(of_exchange(rest).into_iter().map(|observed| Subject::Exchange(exchange, observed))).collect()
        }
    }
}

fn of_exchange(words: &str) -> Vec<ExchangeObservation> {
    let parts: Vec<&str> = words.split(' ').collect();
    let understood = |body| vec![ExchangeObservation::BodyRead { body }];
    match *parts.as_slice() {
        ["GET", url] => vec![ExchangeObservation::Requested { request: Box::new(request(url)) }],
        ["unknown"] => vec![ExchangeObservation::Requested { request: Box::default() }],
        ["<-", status] => {
            let response = Box::new(ResponseLine { status: Some(status.parse().unwrap()), ..ResponseLine::default() });
            vec![ExchangeObservation::Responded { response }]
        }
        ["list", version, items] => {
            let number: usize = items.strip_prefix("items=").unwrap().parse().unwrap();
            let object = ObjectRef { namespace: "default".to_owned(), name: "x".to_owned(), ..ObjectRef::default() };
            let meta = ListMeta { resource_version: revision(version), ..ListMeta::default() };
            [understood(Body::List(meta)), understood(Body::Items(vec![object; number]))].concat()
        }
        ["version", version] => understood(Body::Version(version.parse().unwrap())),
        ["status", code, reason, field] => {
            let cause = StatusCause { field: field.to_owned(), ..StatusCause::default() };
            let (reason, code, causes) = (reason.to_owned(), code.parse().unwrap(), vec![cause]);
            let status = Status { reason, code, causes, ..Status::default() };
            understood(Body::Status(Box::new(status)))
        }
        ["event", "ERROR", code, reason] => {
            let status = Status { code: code.parse().unwrap(), reason: reason.to_owned(), ..Status::default() };
            let frame = WatchFrame { status: Some(Box::new(status)), ..frame(EventType::Error, ObjectRef::default()) };
            understood(Body::Events(vec![frame]))
        }
        ["event", kind, name, version] => {
            let (namespace, name) = name.split_once('/').map(|(space, name)| (space.to_owned(), name.to_owned())).unwrap();
            let object = ObjectRef { namespace, name, resource_version: revision(version), ..ObjectRef::default() };
            let kind = if kind == "BOOKMARK" { EventType::Bookmark } else { EventType::Added };
            understood(Body::Events(vec![frame(kind, object)]))
        }
        ["missed", bytes] => {
            vec![ExchangeObservation::BodyGap { direction: Direction::Response, bytes: bytes.parse().unwrap() }]
        }
        ["unread", media_type] => vec![ExchangeObservation::BodyNotRead { reason: BodyNotRead::MediaType(media_type.to_owned()) }],
        ["end"] => vec![ExchangeObservation::Ended { end: ExchangeEnd::Complete }],
        ["cut"] => {
            let end = ConnectionEnd { direction: Direction::Response, manner: EndManner::Reset };
            vec![ExchangeObservation::Ended { end: ExchangeEnd::Cut(Some(end)) }]
        }
        _ => panic!("no such words: {words}"),
    }
}

fn request(url: &str) -> RequestLine {
    let url = url.replace("@100", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAwLCJzdGFydCI6ImRlZmF1bHQveFx1MDAwMCJ9");
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let options = ListOptions::parse(query);
    let info = RequestInfo::parse("GET", path, &options, "");
    RequestLine { method: Some("GET".to_owned()), info: Some(info), options, ..RequestLine::default() }
}

fn frame(event_type: EventType, object: ObjectRef) -> WatchFrame {
    WatchFrame { event_type, object, initial_events_end: false, status: None, bytes: 100 }
}

fn revision(words: &str) -> String {
    words.strip_prefix("rv=").unwrap().to_owned()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "events that no script here is about are not shown")]
fn describe(event: &Event) -> Option<String> {
    let (at, name, record) = match event {
        Event::Request { record } => (record.at.plus(micros(record.total_us)), "request", record),
        Event::WatchOpened { record } => (record.at, "watch-opened", record),
        Event::WatchEnded { ended_at, record } => (*ended_at, "watch-ended", record),
        Event::Contradicted { at, shape, verdict, .. } => {
            let (predicted, shown) = (layer(verdict.predicted.as_ref().unwrap()), layer(&verdict.served_from));
            let proof = verdict.proof.unwrap();
            return Some(format!("{} contradicted {shape}: {predicted} by {}, {shown} by {proof}", seconds(*at), verdict.rule));
        }
        Event::Listener { at, state, .. } => return Some(format!("{} listener {state:?}", seconds(*at))),
        _ => return None,
    };
    let verdict = record.verdict.as_ref().map_or_else(String::new, |verdict| layer(&verdict.served_from));
    let verb = record.verb.map_or("?", Verb::as_str);
    let mut line =
        format!("{} {name} {verb} {} → {} {verdict} items={}", seconds(at), record.shape, record.status.unwrap_or(0), record.items);
    if let (Some(watch), Some(_)) = (&record.watch, record.end) {
        let error = watch.error.as_ref().map_or(0, |status| status.code);
        let last = &watch.last_resource_version;
        let account = format!(" events={} bookmarks={} last={last} error={error}", watch.events(), watch.bookmarks);
        line.push_str(&account);
    }
    Some(line)
}

fn layer(served_from: &ServedFrom) -> String {
    match served_from {
        ServedFrom::Unknown { remaining, .. } => {
            let layers: Vec<String> = remaining.iter().map(|layer| format!("{layer:?}")).collect();
            format!("Unknown{{{}}}", layers.join(","))
        }
        ServedFrom::Rejected { .. } => "Rejected".to_owned(),
        ServedFrom::Cache | ServedFrom::CacheConsistent | ServedFrom::Snapshot | ServedFrom::Etcd | ServedFrom::Proxied => {
            format!("{served_from:?}")
        }
    }
}

fn micros(number: Option<u64>) -> std::time::Duration {
    std::time::Duration::from_micros(number.unwrap_or(0))
}

fn seconds(at: Timestamp) -> String {
    let millis = at.since(Timestamp::default()).as_millis();
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}
