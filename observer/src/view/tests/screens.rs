//! Snapshots of the screens.

use expect_test::expect;
use observer_core::http::{Direction, Protocol};
use observer_core::observation::{ConnectionDecoder, ConnectionId, Observation, Subject, UpstreamName, UpstreamObservation};
use observer_core::observer::{Limits, Observer};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;

use super::super::*;
use crate::pipeline::EventSink as _;

#[test]
fn silent_run_prints_its_notes_and_explanation() {
    let run = Run {
        budget: None,
        subcommand: "exec",
        command: vec!["kubectl".to_owned(), "version".to_owned()],
        exit_code: Some(0),
        silence: vec!["No client connected.".to_owned()],
        log: None,
        notes: vec!["a note".to_owned()],
    };
    let text = report_text(&run, &Observer::new(Limits::default()).snapshot(), Colour::Off);
    expect![[r"
        watchtap exec: kubectl version   API server: version unknown; feature gates: defaults assumed   0 µs

        0 of 0 lists served from etcd · 0 relists · 0 storms · 0 watches · 0 requests · 0 B
        not observed: nothing · unparsed: nothing
        note: a note

        No client connected.
    "]]
    .assert_eq(text.as_str());
}

#[test]
fn live_lines_show_client_request_and_layer() {
    let exchanges = [
        ("GET /api?timeout=32s", "200 OK", r#"{"kind":"APIVersions"}"#),
        ("GET /apis?timeout=32s", "200 OK", r#"{"kind":"APIGroupList"}"#),
        (
            "GET /api/v1/pods?resourceVersion=0",
            "200 OK",
            r#"{"kind":"PodList","metadata":{"resourceVersion":"812345"},"items":[{"metadata":{"name":"a","namespace":"x"}}]}"#,
        ),
        ("GET /api/v1/namespaces/default/pods/web-0", "404 Not Found", r#"{"kind":"Status","code":404,"reason":"NotFound"}"#),
        (
            "GET /api/v1/pods?watch=1&resourceVersion=812345&allowWatchBookmarks=true",
            "200 OK",
            r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#,
        ),
        (
            "GET /api/v1/nodes?labelSelector=a%1b%5B31m",
            "200 OK",
            r#"{"kind":"NodeList","metadata":{"resourceVersion":"812345"},"items":[]}"#,
        ),
    ];
    expect![[r"
        00:00:00.000 server version v1.34.4 (/version); feature gates: defaults assumed
        00:00:00.002 get    my-controller/0.3 discovery: 2 requests → 45 B 1.0 ms
        00:00:00.002 list   my-controller/0.3 pods all namespaces RV=0 → 1 object 110 B 500 µs  ~ cache  list-rv0
        00:00:00.003 get    my-controller/0.3 pods default/web-0 → 404 NotFound 500 µs  ~ etcd  get-unset-etcd
        00:00:00.004 watch  my-controller/0.3 pods all namespaces RV=812345 open 500 µs  ~ cache  watch-rv
        00:00:00.004 end    my-controller/0.3 pods all namespaces RV=812345 after 500 µs: 410 Expired; 0 events, 0 bookmarks
        00:00:00.005 list   my-controller/0.3 nodes cluster labels a�[31m → 0 objects 70 B 500 µs  ~ cache, consistent  list-unset-consistent
        00:00:01.006 totals 6 requests · 0 of 2 lists served from etcd · 0 requests open · 346 B · not observed: nothing · unparsed: nothing
    "]]
    .assert_eq(&lines(exchanges.into_iter()));
}

#[test]
fn excess_live_lines_are_counted_instead_of_printed() {
    let text = lines((0..1_000).map(|_| ("GET /api/v1/nodes", "200 OK", "{}")));
    let left_out = text.lines().find(|line| line.contains("omitted here")).map(str::to_owned);
    expect!["00:00:02.000 …      801 lines omitted here: too many in one second (the totals and --events include them)"]
        .assert_eq(&left_out.unwrap_or_default());
    assert!(text.lines().count() < 1_000);
}

#[test]
fn notable_lines_leave_out_what_is_routine_for_a_healthy_client() {
    let list = r#"{"kind":"PodList","metadata":{"resourceVersion":"812345"},"items":[{"metadata":{"name":"web-0","namespace":"default","resourceVersion":"7"}}]}"#;
    let expired =
        r#"{"kind":"Status","status":"Failure","message":"too old resource version: 7 (8)","reason":"Expired","code":410}"#;
    let watch = "GET /api/v1/pods?watch=1&resourceVersion=812345";
    let exchanges = [
        ("GET /api?timeout=32s", "200 OK", r#"{"kind":"APIVersions"}"#),
        ("GET /api/v1/pods?resourceVersion=0", "200 OK", list),
        (watch, "200 OK", ""),
        ("GET /api/v1/namespaces/default/configmaps/lease", "404 Not Found", "{}"),
        (watch, "410 Gone", expired),
        ("GET /api/v1/pods?resourceVersion=812345", "200 OK", list),
    ];
    expect![[r"
        00:00:00.000 server version v1.34.4 (/version); feature gates: defaults assumed
        00:00:00.001 list   my-controller/0.3 pods all namespaces: first list → 1 object 142 B 500 µs  ~ cache  list-rv0
        00:00:00.005 relist my-controller/0.3 pods all namespaces cause=expired/cache-reset → 1 object (1 unchanged) 142 B 500 µs  ~ cache  list-rv
    "]]
    .assert_eq(&chosen_lines(LineChoice::Notable, exchanges.into_iter()));
}

#[test]
fn notable_lines_are_bounded_by_the_minute() {
    let list = r#"{"kind":"PodList","metadata":{"resourceVersion":"8"},"items":[]}"#;
    let watch = ("GET /api/v1/pods?watch=1&resourceVersion=8", "410 Gone", r#"{"kind":"Status","reason":"Expired","code":410}"#);
    let relists = (0..500).flat_map(|_| [("GET /api/v1/pods?resourceVersion=0", "200 OK", list), watch]);
    let text = chosen_lines(LineChoice::Notable, relists);
    assert!((50..=61).contains(&text.lines().count()), "{text}");
}

#[test]
fn columns_of_a_report_name_sums_and_medians() {
    let (observations, _) = observations(
        [
            ("GET /api/v1/pods", "200 OK", r#"{"kind":"PodList","metadata":{"resourceVersion":"8"},"items":[]}"#),
            ("GET /api/v1/pods?watch=1&resourceVersion=8", "200 OK", ""),
            ("GET /api/v1/nodes/a", "200 OK", "{}"),
        ]
        .into_iter(),
    );
    let mut observer = Observer::new(Limits::default());
    for observation in observations {
        observer.observe(observation, &mut |_event| {});
    }
    let run = Run {
        budget: None,
        subcommand: "exec",
        command: Vec::new(),
        exit_code: None,
        silence: Vec::new(),
        log: None,
        notes: Vec::new(),
    };
    let report = report_text(&run, &observer.snapshot(), Colour::Off);
    for label in ["FIRST BYTE (MEDIAN)  TOTAL (MEDIAN)", "TIME OPEN"] {
        assert!(report.as_str().contains(label), "{label}: {}", report.as_str());
    }
}

/// The live lines for these exchanges.
fn lines<'e>(exchanges: impl Iterator<Item = (&'e str, &'e str, &'e str)>) -> String {
    chosen_lines(LineChoice::All, exchanges)
}

fn chosen_lines<'e>(choice: LineChoice, exchanges: impl Iterator<Item = (&'e str, &'e str, &'e str)>) -> String {
    let mut observer = Observer::new(Limits::default());
    let mut live = LiveLines::new(Printer::to(Vec::new()), Colour::Off).only(choice);
    let (observations, at) = observations(exchanges);
    for observation in observations {
        observer.observe(observation, &mut |event| live.event(&event).unwrap());
    }
    live.totals(at.plus(std::time::Duration::from_secs(1)), &observer.totals(), observer.missed()).unwrap();
    String::from_utf8(live.into_inner()).unwrap()
}

/// One HTTP/1.1 connection of `my-controller/0.3`, and the time after it: a request each millisecond, answered half a millisecond
/// later.
fn observations<'e>(exchanges: impl Iterator<Item = (&'e str, &'e str, &'e str)>) -> (Vec<Observation>, Timestamp) {
    let mut at = Timestamp::from_nanos(0);
    let mut observations = Vec::new();
    let profile = Box::new(ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::VersionEndpoint));
    observations
        .push(Observation { at, subject: Subject::Upstream(UpstreamName::default(), UpstreamObservation::Profile { profile }) });
    let mut decoder = ConnectionDecoder::new(ConnectionId(1), Some(Protocol::Http1), "");
    for (line, status, body) in exchanges {
        let request = format!("{line} HTTP/1.1\r\nHost: x\r\nUser-Agent: my-controller/0.3 (linux/amd64)\r\n\r\n");
        let length = body.len();
        let response = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
        decoder.bytes(at, Direction::Request, request.as_bytes(), &mut |one| observations.push(one));
        at = at.plus(std::time::Duration::from_micros(500));
        decoder.bytes(at, Direction::Response, response.as_bytes(), &mut |one| observations.push(one));
        at = at.plus(std::time::Duration::from_micros(500));
    }
    (observations, at)
}
