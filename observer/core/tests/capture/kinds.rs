//! The files of each version in `tests/compatibility` have an event of each kind, so none can lose a field unnoticed.
//!
//! `kinds.cap` has the kinds that a run against the demo does not have.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use observer_core::http::{Direction, Identity, Loss, StreamId};
use observer_core::observation::{
    CaptureObservation, ConnectionId, ConnectionObservation, ExchangeId, ExchangeObservation, JoinedRequests, Observation,
    RequestLine, RunObservation, Subject, TapObservation, UpstreamName,
};
use observer_core::routing::RecordedRead;
use observer_core::time::Timestamp;

use super::rig::{Read, file, observed};

/// The source with the kinds of events.
const SOURCE: &str = include_str!("../../src/observer/event.rs");

/// A deaf watch, an answer that contradicts its verdict, and a stuck reflector.
const TROUBLE: &str = "
    0s server v1.34.4
    0s a connects client=deaf/1
    1s a1 GET /api/v1/pods?limit=500&resourceVersion=0
    1s a1 whole rv=10 x@5
    2s a3 GET /api/v1/pods?watch=1&resourceVersion=10&allowWatchBookmarks=true&timeoutSeconds=590
    2s a3 opens
    62s a3 BOOKMARK @11
    65s b connects client=other/1
    66s b1 GET /api/v1/pods?limit=500&resourceVersion=0
    66s b1 whole rv=11 x@5
    67s b3 GET /api/v1/pods?watch=1&resourceVersion=11&allowWatchBookmarks=true&timeoutSeconds=590
    67s b3 opens
    70s b3 MODIFIED x@20
    243s b3 BOOKMARK @21
    300s a3 MODIFIED x@20
    301s b3 BOOKMARK @22
    302s d connects client=paging/1
    302s d1 GET /api/v1/services?limit=1
    302s d1 whole rv=22 x@5 y@6 z@7
    303s c connects client=stuck/1
    303s c1 GET /api/v1/secrets?limit=500&resourceVersion=0
    303s c1 whole rv=30 s@25
    304s c3 GET /api/v1/secrets?allowWatchBookmarks=true&resourceVersion=30&timeoutSeconds=500&watch=true
    304s c3 opens
    310s c3 BOOKMARK @1100
    320s c3 ERROR 500 InternalError
    320s c3 ends
";

#[test]
fn files_of_each_version_have_each_kind_of_event() {
    let expected = kinds();
    assert!(expected.contains("request") && expected.contains("go-away") && expected.len() > 25, "{expected:?}");
    for version in versions() {
        let files = ["run.cap", "kinds.cap"].map(|name| version.join(name));
        if version.ends_with(env!("CARGO_PKG_VERSION")) && std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&files[1], file(&observations(), usize::MAX)).unwrap();
        }
        let found: BTreeSet<String> = files.iter().flat_map(|file| found(&std::fs::read(file).unwrap())).collect();
        let lacking: Vec<_> = expected.difference(&found).collect();
        // Another version is not changed for a kind that came later.
        assert!(lacking.is_empty() || !version.ends_with(env!("CARGO_PKG_VERSION")), "{} lacks {lacking:?}", version.display());
    }
}

fn versions() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/compatibility");
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The kinds of events that a replay gives.
fn found(capture: &[u8]) -> BTreeSet<String> {
    let (events, _) = observed(&Read::complete(capture).observations);
    events.iter().map(|event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned()).collect()
}

/// The names of all kinds, as in JSON.
fn kinds() -> BTreeSet<String> {
    let (_, after) = SOURCE.split_once("pub enum Event {\n").unwrap();
    let (variants, _) = after.split_once("\n}\n").unwrap();
    let names = variants.lines().filter_map(|line| line.strip_prefix("    ")?.strip_suffix(" {"));
    names.filter(|name| name.starts_with(|first: char| first.is_ascii_uppercase())).map(in_kebab_case).collect()
}

fn in_kebab_case(name: &str) -> String {
    let mut words = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !words.is_empty() {
            words.push('-');
        }
        words.push(character.to_ascii_lowercase());
    }
    words
}

fn observations() -> Vec<Observation> {
    let mut script = TROUBLE.to_owned();
    for number in 0..16_u64 {
        let (at, exchange) = (321 + 4 * number, 5 + 2 * number);
        let list = "GET /api/v1/secrets?resourceVersion=1100";
        writeln!(script, "{at}s c{exchange} {list}\n{}s c{exchange} refused 504 Timeout too-large", at + 3).unwrap();
    }
    for second in (0..400).step_by(10) {
        writeln!(script, "{second}s tick").unwrap();
    }
    let mut all = observer_script::observations(&script);
    let at = all.iter().map(|one| one.at).max().unwrap_or_default();
    all.extend(others(at).into_iter().map(|subject| Observation { at, subject }));
    all
}

/// Losses, and events of the run.
fn others(at: Timestamp) -> Vec<Subject> {
    let connection = ConnectionId(1_000);
    let opened = ConnectionObservation::Opened {
        upstream: UpstreamName::default(),
        protocol: None,
        process: None,
        container_name: None,
        attached_late: true,
        logged: None,
    };
    let (stream, direction) = (StreamId(3), Direction::Response);
    let exchange = ExchangeId { connection, stream };
    let request = Box::new(RequestLine { method: Some("GET".to_owned()), ..RequestLine::default() });
    let text = |words: &str| words.to_owned();
    let of_connection = [
        opened,
        ConnectionObservation::Gap { stream: Some(stream), direction, bytes: 4_096 },
        ConnectionObservation::Malformed { direction, offset: 1, what: text("a head without an end") },
        ConnectionObservation::DecodingStopped { direction, loss: Loss::Gap },
        ConnectionObservation::DecoderFailed,
    ];
    let mut all: Vec<Subject> = of_connection.into_iter().map(|one| Subject::Connection(connection, one)).collect();
    let upgraded = ExchangeObservation::Upgraded { protocol: text("websocket") };
    let recorded = ExchangeObservation::Recorded { read: RecordedRead::NoEtcdTime };
    let closed = ExchangeObservation::ClosedByForce { waiting: Some(10) };
    let logged = ExchangeObservation::Logged { user: Some(Identity::of_user("apps:controller")), took_us: Some(1_200) };
    let of_exchange =
        [ExchangeObservation::Requested { request }, upgraded, recorded, closed, ExchangeObservation::CacheReset, logged];
    all.splice(1..1, of_exchange.map(|one| Subject::Exchange(exchange, one)));
    all.extend([
        Subject::Tap(TapObservation::ConnectFailed { why: text("connection refused") }),
        Subject::Tap(TapObservation::NotProbed { file: text("/usr/bin/client"), why: text("no symbols") }),
        Subject::Run(RunObservation::Joined { requests: JoinedRequests { joined: 1, ..JoinedRequests::default() } }),
        Subject::Run(RunObservation::Fault { act: text("restart"), note: text("the server restarts") }),
        Subject::Capture(CaptureObservation::Ended { why: text("no space left on device") }),
        Subject::Capture(CaptureObservation::Unrecorded { observations: Some(5), from: Some(at), until: Some(at) }),
    ]);
    all
}
