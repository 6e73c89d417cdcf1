//! Tests of the observing thread: its results for given deliveries of taps.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use observer_core::http::{Direction, Identity, Protocol, Start};
use observer_core::observation::{JoinedRequests, Process, RunObservation, Subject};
use observer_core::observer::{Limits, Observer, Rates, Snapshot};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::series::Family;
use observer_core::time::Timestamp;

use super::*;
use crate::api_server::UpstreamId;
use crate::capture::{Bounds, CaptureFile, Pace, Recording};
use crate::intake::{ConnectionInfo, EndManner, Intake, IntakeLimits, ListenerState, Notice};
use crate::log_files::LogZone;
use crate::memory_budget::MemoryBudget;
use crate::view::{EventLines, Printer};

const REQUEST: &[u8] = b"GET /prefix/api/v1/pods?limit=500 HTTP/1.1\r\nUser-Agent: kubectl/v1.33.1\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 66\r\n\r\n\
    {\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{}]}";

#[test]
fn tap_deliveries_reach_the_snapshot() {
    let outcome = observe(Outputs::default(), |intake| {
        exchange(intake);
        intake.notice(Notice::Listener { at: now(), upstream: UpstreamId::default(), state: ListenerState::Refusing });
        intake.notice(Notice::ResetInsteadOfRefused { at: now(), clients: 3 });
    });
    let totals = &outcome.snapshot.totals;
    assert_eq!((totals.connections, totals.requests, totals.lists, totals.open), (1, 1, 1, 0));
    assert_eq!(outcome.snapshot.lists[0].verdict.as_ref().unwrap().rule, "list-unset-consistent");
    assert_eq!(outcome.snapshot.missed.reset_instead_of_refused, 3);
    assert!(outcome.troubles.is_empty(), "{:?}", outcome.troubles);
}

#[test]
fn series_are_read_while_nothing_is_delivered() {
    let mut outputs = Outputs::default();
    let reader = outputs.series(&[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut requests = 0;
    observe(outputs, |intake| {
        exchange(intake);
        while requests == 0 {
            let samples = runtime.block_on(reader.read()).unwrap();
            requests = samples.of(Family::Requests).map(|sample| sample.count()).sum();
        }
    });
    assert_eq!(requests, 1);
    assert_eq!(runtime.block_on(reader.read()).unwrap_err(), NoSeries::Ended);
}

#[test]
fn run_length_extends_past_the_last_observation() {
    struct Seen(mpsc::Sender<()>);
    impl Write for Seen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if String::from_utf8_lossy(bytes).contains("refusing") {
                self.0.send(()).unwrap();
            }
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (seen, observed) = mpsc::channel();
    let lines = EventLines::begin(Printer::to(Box::new(Seen(seen)) as Box<dyn Write + Send>)).unwrap();
    let mut lasted = Duration::ZERO;
    let outcome = observe(Outputs::new(vec![Box::new(lines)], None), |intake| {
        intake.notice(Notice::Listener { at: now(), upstream: UpstreamId::default(), state: ListenerState::Refusing });
        observed.recv_timeout(Duration::from_secs(10)).unwrap();
        let begun = Instant::now();
        while lasted < Duration::from_millis(5) {
            lasted = begun.elapsed();
        }
    });
    let snapshot = outcome.snapshot;
    let length = snapshot.at.since(snapshot.started.unwrap());
    assert!(length >= lasted, "{length:?} of {lasted:?}");
}

#[test]
fn full_disk_stops_the_event_file_but_not_observing() {
    struct FullDisk;
    impl Write for FullDisk {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let out: Box<dyn Write + Send> = Box::new(io::BufWriter::with_capacity(1 << 10, FullDisk));
    let outcome = observe(Outputs::new(vec![Box::new(EventLines::begin(Printer::to(out)).unwrap())], None), exchange);
    assert_eq!(outcome.snapshot.totals.requests, 1);
    assert_eq!(outcome.troubles.len(), 1, "{:?}", outcome.troubles);
    assert!(outcome.troubles[0].starts_with("stopped writing --events"), "{:?}", outcome.troubles);
}

#[test]
fn requests_to_an_unknown_server_wait_until_it_is_known() {
    let profile = || Box::new(ServerProfile::of_version("v1.30.4".parse().unwrap(), Basis::VersionEndpoint));
    for learned in [true, false] {
        let upstream =
            Upstream { id: UpstreamId::default(), name: "b:6443".to_owned(), path_prefix: "/prefix".to_owned(), profile: None };
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let observing = Observing::start(receiver, now(), vec![upstream], Outputs::default(), &MemoryBudget::default()).unwrap();
        exchange(&intake);
        if learned {
            intake.notice(Notice::Profile { at: now(), upstream: UpstreamId::default(), profile: profile() });
        }
        drop(intake);
        let snapshot = observing.finish().unwrap().snapshot;
        let rule = if learned { "list-unset-etcd" } else { "unknown-version" };
        assert_eq!((snapshot.totals.requests, snapshot.lists[0].verdict.as_ref().unwrap().rule), (1, rule));
    }
}

#[test]
fn replayed_capture_yields_the_same_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.cap");
    let capture = CaptureFile::create(&path, BOUNDS).unwrap();
    let outcome = observe(Outputs::new(Vec::new(), Some(capture)), exchange);
    let mut observer = Observer::new(Limits::default());
    let lost =
        Recording::of(&[path]).unwrap().replay(Pace::AtOnce, &mut |one| observer.observe(one.observation, &mut |_| {})).unwrap();
    assert_eq!(lost, []);
    assert_eq!(observer.snapshot(), outcome.snapshot);
    assert_eq!(outcome.snapshot.totals.requests, 1);
}

#[test]
fn full_disk_stops_the_capture_but_not_observing() {
    let capture = CaptureFile::create(Path::new("/dev/full"), BOUNDS).unwrap();
    let outcome = observe(Outputs::new(Vec::new(), Some(capture)), exchange);
    assert_eq!(outcome.snapshot.totals.requests, 1);
    assert!(outcome.snapshot.missed.capture_ended.contains("space"), "{:?}", outcome.snapshot.missed);
    assert_eq!(outcome.snapshot.missed.unrecorded, 0, "the report of this run lacks nothing for it");
}

#[test]
fn already_open_connection_is_read_from_its_next_request() {
    let outcome = observe(Outputs::new(Vec::new(), None), |intake| {
        let mut feed = intake.register(now(), info(Start::Middle)).unwrap();
        feed.bytes(now(), Direction::Response, b"the end of an answer");
        feed.missed(now(), Direction::Response, 7);
        feed.bytes(now(), Direction::Request, REQUEST);
        feed.bytes(now(), Direction::Response, RESPONSE);
        feed.closed(now());
    });
    let Snapshot { totals, missed, .. } = outcome.snapshot;
    assert_eq!((totals.requests, missed.bytes, missed.malformed), (1, 7, 0), "{missed:?}");
}

/// The `Opened` observations of two connections wait, and all observations after them. The result is the same as if both processes
/// were known at once.
#[test]
fn late_processes_do_not_change_the_capture_or_snapshot() {
    let [at_once, late] = [false, true].map(|is_late| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.cap");
        let capture = CaptureFile::create(&path, BOUNDS).unwrap();
        let outcome = observe(Outputs::new(Vec::new(), Some(capture)), |intake| two_processes(intake, is_late));
        let mut recorded = Vec::new();
        Recording::of(&[path]).unwrap().replay(Pace::AtOnce, &mut |one| recorded.push(one.observation)).unwrap();
        // The two runs end at different times, on which the rates depend, too.
        assert_eq!(recorded.pop().unwrap().subject, Subject::Run(RunObservation::Tick));
        (recorded, Snapshot { at: Timestamp::default(), rates: Rates::default(), ..outcome.snapshot })
    });
    assert_eq!(late, at_once);
    let clients: Vec<u64> = late.1.reflectors.iter().map(|reflector| reflector.client_id.0).collect();
    assert_eq!(clients, [1, 2], "the same words, of two processes");
}

/// Some deliveries wait both for the server's profile and for the client's process. They get both, in either order of arrival.
#[test]
fn process_found_before_its_server_version_is_kept() {
    for is_late in [false, true] {
        let upstream =
            Upstream { id: UpstreamId::default(), name: "b:6443".to_owned(), path_prefix: "/prefix".to_owned(), profile: None };
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let observing = Observing::start(receiver, now(), vec![upstream], Outputs::default(), &MemoryBudget::default()).unwrap();
        two_processes(&intake, is_late);
        let profile = Box::new(ServerProfile::of_version("v1.30.4".parse().unwrap(), Basis::VersionEndpoint));
        intake.notice(Notice::Profile { at: now(), upstream: UpstreamId::default(), profile });
        drop(intake);
        let snapshot = observing.finish().unwrap().snapshot;
        let clients: Vec<u64> = snapshot.reflectors.iter().map(|reflector| reflector.client_id.0).collect();
        assert_eq!((snapshot.totals.requests, clients), (2, vec![1, 2]));
    }
}

/// Decoding waits for the server's version here, and the run is shut down before it arrives.
#[test]
fn bytes_not_decoded_by_the_deadline_count_as_missed() {
    for (limit, decoded) in [(Duration::from_mins(1), true), (Duration::ZERO, false)] {
        let upstream =
            Upstream { id: UpstreamId::default(), name: "b:6443".to_owned(), path_prefix: "/prefix".to_owned(), profile: None };
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let observing = Observing::start(receiver, now(), vec![upstream], Outputs::default(), &MemoryBudget::default()).unwrap();
        exchange(&intake);
        observing.set_deadline(limit);
        drop(intake);
        let outcome = observing.finish().unwrap();
        let Outcome { snapshot: Snapshot { totals, missed, .. }, troubles, .. } = outcome;
        let bytes = (REQUEST.len() + RESPONSE.len()) as u64;
        let expected = if decoded { (1, 0, 0) } else { (0, bytes, 1) };
        assert_eq!((totals.requests, missed.bytes, troubles.len()), expected, "{troubles:?}");
        assert_eq!((totals.connections, totals.open), (1, 0));
    }
}

/// The user and the time in the server come from the log, in the capture of the run, too.
#[test]
fn request_is_joined_with_the_event_that_the_server_writes() {
    let event = |id: &str| {
        format!(
            "{{\"auditID\":\"{id}\",\"stage\":\"ResponseComplete\",\"verb\":\"list\",\"requestURI\":\"/api/v1/pods?limit=500\",\
             \"user\":{{\"username\":\"admin\"}},\"responseStatus\":{{\"code\":200}},\
             \"requestReceivedTimestamp\":\"1970-01-01T00:00:00Z\",\"stageTimestamp\":\"1970-01-01T00:00:00.5Z\"}}\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let (path, log) = (folder.path().join("run.cap"), folder.path().join("audit.log"));
    fs::write(&log, event("before").repeat(2)).unwrap();
    let beside = BesideLogs::open(std::slice::from_ref(&log), LogZone::default(), 1 << 20).unwrap();
    let outputs = Outputs::new(Vec::new(), Some(CaptureFile::create(&path, BOUNDS).unwrap()));
    let (intake, receiver) = Intake::new(IntakeLimits::default());
    let memory = MemoryBudget::default();
    let observing =
        Observing::start_beside(Some(Box::new(beside)), receiver, now(), vec![known_upstream()], outputs, &memory).unwrap();
    let answer = String::from_utf8_lossy(RESPONSE).replace("Content-Length", "Audit-Id: id-1\r\nContent-Length");
    let mut feed = intake.register(now(), info(Start::Beginning)).unwrap();
    feed.bytes(now(), Direction::Request, REQUEST);
    feed.bytes(now(), Direction::Response, answer.as_bytes());
    feed.closed(now());
    OpenOptions::new().append(true).open(&log).unwrap().write_all(event("id-1").as_bytes()).unwrap();
    drop(intake);
    let Outcome { snapshot, troubles, .. } = observing.finish().unwrap();
    assert!(troubles.is_empty(), "{troubles:?}");
    assert_eq!(snapshot.totals.joined, Some(JoinedRequests { joined: 1, ..JoinedRequests::default() }));
    let record = &snapshot.requests[0];
    assert_eq!((record.user.clone(), record.server_us), (Some(Identity::of_user("admin")), Some(500_000)));
    let mut observer = Observer::new(Limits::default());
    Recording::of(&[path]).unwrap().replay(Pace::AtOnce, &mut |one| observer.observe(one.observation, &mut |_| {})).unwrap();
    assert_eq!(observer.snapshot(), snapshot, "the capture has what the log added");
    let missing = BesideLogs::open(&[folder.path().join("missing")], LogZone::default(), 1).unwrap_err().to_string();
    assert!(missing.starts_with("--audit-log cannot read "), "{missing}");
}

/// Delivers the same list of two client processes. The processes are known at once. If `is_late`, they are known after the
/// connections have ended, the second one first.
fn two_processes(intake: &Intake, is_late: bool) {
    let process = |pid| Process::new(pid, 1, "controller".to_owned());
    let register = |pid| {
        let info = info(Start::Beginning);
        if is_late {
            let (feed, pending) = intake.register_before_process(now(), info).unwrap();
            return (feed, Some(pending));
        }
        (intake.register(now(), ConnectionInfo { process: Some(process(pid)), ..info }).unwrap(), None)
    };
    let request = "GET /prefix/api/v1/pods?limit=500 HTTP/1.1\r\nUser-Agent: controller/v1.30.0\r\n\r\n";
    let (mut one, pending_one) = register(7);
    one.bytes(now(), Direction::Request, request.as_bytes());
    let (mut other, pending_other) = register(8);
    other.bytes(now(), Direction::Request, request.as_bytes());
    intake.notice(Notice::ResetInsteadOfRefused { at: now(), clients: 3 });
    other.bytes(now(), Direction::Response, RESPONSE);
    one.bytes(now(), Direction::Response, RESPONSE);
    one.closed(now());
    other.closed(now());
    for (pending, pid) in [(pending_other, 8), (pending_one, 7)] {
        if let Some(pending) = pending {
            pending.found(process(pid));
        }
    }
}

const BOUNDS: Bounds = Bounds { max_size: 1 << 20, files: 2 };

fn observe(outputs: Outputs, act: impl FnOnce(&Intake)) -> Outcome {
    let (intake, receiver) = Intake::new(IntakeLimits::default());
    let observing = Observing::start(receiver, now(), vec![known_upstream()], outputs, &MemoryBudget::default()).unwrap();
    act(&intake);
    drop(intake);
    observing.finish().unwrap()
}

fn known_upstream() -> Upstream {
    let profile = ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::VersionEndpoint);
    Upstream { id: UpstreamId::default(), name: "a:6443".to_owned(), path_prefix: "/prefix".to_owned(), profile: Some(profile) }
}

fn exchange(intake: &Intake) {
    let mut feed = intake.register(now(), info(Start::Beginning)).unwrap();
    feed.bytes(now(), Direction::Request, REQUEST);
    feed.bytes(now(), Direction::Response, RESPONSE);
    feed.ended(now(), Direction::Request, EndManner::CloseNotify);
    feed.ended(now(), Direction::Response, EndManner::CloseNotify);
    feed.closed(now());
}

fn info(start: Start) -> ConnectionInfo {
    ConnectionInfo {
        client: anywhere(),
        upstream: Some(UpstreamId::default()),
        server: anywhere(),
        process: None,
        container_name: None,
        protocol: Some(Protocol::Http1),
        start,
    }
}

fn anywhere() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 1))
}

fn now() -> Timestamp {
    Timestamp::from_nanos(1)
}
