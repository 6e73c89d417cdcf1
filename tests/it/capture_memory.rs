//! The memory of `watchtap read` on captures made to use much of it. Measured is the peak minus that of the same run on a
//! capture of a few requests.
//!
//! `docs/bounds.md` has the figures that these tests print.

use std::fs;
use std::io::{Read, pipe};
use std::process::Stdio;

use observer_core::capture::{FileEnd, Writer};
use observer_core::http::{Protocol, StreamId};
use observer_core::k8s::{ListOptions, RequestInfo, ResourceVersion, Status, StatusCause, Verb};
use observer_core::observation::{
    Body, ConnectionId, ConnectionObservation, ExchangeEnd, ExchangeId, ExchangeObservation, Observation, RequestLine,
    ResponseLine, Subject, UpstreamName, UpstreamObservation,
};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;
use observer_core::wire::{ListMeta, ObjectRef};
use observer_tests::watchtap;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::fcntl_setpipe_size;
use serde_json::Value;

/// Maximum memory for any capture, in bytes.
const MOST: u64 = 40 << 20;

/// Many requests, each for its own namespace.
struct Flood {
    name: &'static str,
    verb: Verb,
    ends: bool,
    /// Length in bytes of each text that a client chooses: selectors and `User-Agent`.
    texts: usize,
    /// Length in bytes of the resource's group and name.
    names: usize,
    /// Whether each request has its own connection, and with it its own client.
    connects: bool,
    /// Number of API servers, each with a name of 1 000 bytes.
    upstreams: u64,
    /// Number of namespaces. The requests in each namespace belong to one reflector.
    namespaces: u64,
    answer: Reply,
}

/// The response to each request.
enum Reply {
    Head,
    /// A list or an object with a revision.
    Revision,
    /// A refusal with the longest message that is kept.
    Refusal,
}

const SMALL: Flood = Flood {
    name: "watches that never end",
    verb: Verb::Watch,
    ends: false,
    texts: 16,
    names: 0,
    connects: false,
    upstreams: 0,
    namespaces: u64::MAX,
    answer: Reply::Head,
};
const LONG: Flood = Flood { name: "watches that never end, with long texts", texts: 1_000, names: 500, connects: true, ..SMALL };

const FLOODS: [Flood; 10] = [
    SMALL,
    LONG,
    Flood { name: "watches that end, with long texts", ends: true, ..LONG },
    Flood { name: "watches that are refused in many words and never end", answer: Reply::Refusal, ..SMALL },
    Flood { name: "lists that never end, with long texts", verb: Verb::List, connects: false, ..LONG },
    Flood {
        name: "lists of 1 000 reflectors that are refused in many words",
        verb: Verb::List,
        ends: true,
        namespaces: 1_000,
        answer: Reply::Refusal,
        ..SMALL
    },
    Flood { name: "lists that end", verb: Verb::List, ends: true, connects: true, ..SMALL },
    Flood { name: "lists that end, with long texts", verb: Verb::List, ends: true, ..LONG },
    Flood { name: "lists of many API servers", verb: Verb::List, ends: true, upstreams: 200, answer: Reply::Revision, ..LONG },
    Flood { name: "writes", verb: Verb::Create, ends: true, answer: Reply::Revision, ..LONG },
];

const REQUESTS: u64 = 100_000;
/// Enough for a report that is longer than the pipe.
const FEW_REQUESTS: u64 = 20;

#[test]
fn reading_100_000_captured_watches_takes_little_memory() {
    for flood in FLOODS.iter().filter(|flood| flood.verb == Verb::Watch) {
        check_flood(flood);
    }
    check("relists in one storm", capture_of_relists(REQUESTS));
}

#[test]
fn reading_100_000_captured_lists_and_writes_takes_little_memory() {
    for flood in FLOODS.iter().filter(|flood| flood.verb != Verb::Watch) {
        check_flood(flood);
    }
    check("versions of servers", capture_of_versions(REQUESTS));
}

fn check_flood(flood: &Flood) {
    let report = check(flood.name, flood.capture(REQUESTS));
    assert_eq!(report["totals"]["requests"], REQUESTS, "{}", flood.name);
}

fn check(name: &str, capture: Vec<u8>) -> Value {
    let (without, _) = peak_of_read(SMALL.capture(FEW_REQUESTS));
    let (with, report) = peak_of_read(capture);
    println!("capture of {name}: {} KiB more", with.saturating_sub(without) >> 10);
    assert!(with < without + MOST, "{name}: {without} bytes become {with}");
    report
}

/// Each request of the capture names a resource of 400 KB.
#[test]
fn reading_overlong_captured_names_takes_little_memory() {
    let report = check("names of 400 KB", capture_of_long_names(500));
    assert_eq!(report["totals"]["requests"], 0);
    assert!(report["missed"]["unrecorded"].as_u64().unwrap() > 0, "{:#}", report["missed"]);
}

impl Flood {
    fn capture(&self, requests: u64) -> Vec<u8> {
        capture_of(requests, |number, record| {
            let connection = ConnectionId(if self.connects { number } else { 1 });
            if self.connects {
                self.connect(connection, number, record);
            }
            let exchange = ExchangeId { connection, stream: StreamId(number) };
            record(Subject::Exchange(exchange, ExchangeObservation::Requested { request: Box::new(self.request(number)) }));
            self.answer(exchange, number, record);
            if self.ends {
                record(Subject::Exchange(exchange, ExchangeObservation::Ended { end: ExchangeEnd::Complete }));
            }
        })
    }

    fn connect(&self, connection: ConnectionId, number: u64, record: &mut dyn FnMut(Subject)) {
        let name = number.checked_rem(self.upstreams).map(|number| format!("{number}{}", "x".repeat(1_000)));
        let (upstream, protocol) = (UpstreamName(name.unwrap_or_default()), Some(Protocol::Http2));
        record(Subject::Connection(
            connection,
            ConnectionObservation::Opened {
                upstream,
                protocol,
                process: None,
                container_name: None,
                attached_late: false,
                logged: None,
            },
        ));
    }

    fn request(&self, number: u64) -> RequestLine {
        let number = number % self.namespaces;
        let text = |name: &str| format!("{name}{number}{}", "x".repeat(self.texts));
        let options = ListOptions {
            watch: self.verb == Verb::Watch,
            label_selector: text("label="),
            field_selector: text("spec.nodeName="),
            ..ListOptions::default()
        };
        let method = if self.verb == Verb::Create { "POST" } else { "GET" };
        let mut info = RequestInfo::parse(method, &format!("/api/v1/namespaces/{number}/pods"), &options, "");
        assert_eq!(info.verb, self.verb);
        if let Some(resource) = info.resource.as_mut().filter(|_| self.names > 0) {
            resource.group = format!("{number}{}", "g".repeat(self.names));
            resource.resource = format!("{number}{}", "r".repeat(self.names));
        }
        let user_agent = Some(text("client-"));
        RequestLine { method: Some(method.to_owned()), info: Some(info), options, user_agent, ..RequestLine::default() }
    }

    fn answer(&self, exchange: ExchangeId, number: u64, record: &mut dyn FnMut(Subject)) {
        let status = if matches!(self.answer, Reply::Refusal) { 403 } else { 200 };
        record(Subject::Exchange(
            exchange,
            ExchangeObservation::Responded { response: Box::new(ResponseLine { status: Some(status), ..ResponseLine::default() }) },
        ));
        let resource_version = number.to_string();
        let body = match self.answer {
            Reply::Head => return,
            Reply::Revision if self.verb == Verb::List => Body::List(ListMeta { resource_version, ..ListMeta::default() }),
            Reply::Revision => Body::Object(ObjectRef { resource_version, ..ObjectRef::default() }),
            Reply::Refusal => {
                let words = || "x".repeat(Status::MAX_TEXT);
                let cause = StatusCause { reason: words(), ..StatusCause::default() };
                Body::Status(Box::new(Status {
                    reason: words(),
                    message: words(),
                    code: status,
                    causes: vec![cause; 2],
                    ..Status::default()
                }))
            }
        };
        record(Subject::Exchange(exchange, ExchangeObservation::BodyRead { body }));
    }
}

/// Each client's watch is refused with 410, and a list follows. On each of 200 API servers, that is one storm.
fn capture_of_relists(requests: u64) -> Vec<u8> {
    let clients = Flood { name: "", connects: true, upstreams: 200, ..LONG };
    let (watch, list) = (Flood { ends: true, ..LONG }, Flood { verb: Verb::List, ends: true, answer: Reply::Revision, ..LONG });
    capture_of(requests / 2, |number, record| {
        let connection = ConnectionId(number);
        clients.connect(connection, number, record);
        for (stream, flood) in [(1, &watch), (3, &list)] {
            let exchange = ExchangeId { connection, stream: StreamId(stream) };
            let mut request = flood.request(number);
            if flood.verb == Verb::Watch {
                request.options.resource_version = ResourceVersion::At(5);
            }
            record(Subject::Exchange(exchange, ExchangeObservation::Requested { request: Box::new(request) }));
            if flood.verb == Verb::Watch {
                let response = ResponseLine { status: Some(410), ..ResponseLine::default() };
                record(Subject::Exchange(exchange, ExchangeObservation::Responded { response: Box::new(response) }));
                let status = Status { code: 410, reason: "Expired".to_owned(), ..Status::default() };
                record(Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Status(Box::new(status)) }));
            } else {
                flood.answer(exchange, number, record);
            }
            record(Subject::Exchange(exchange, ExchangeObservation::Ended { end: ExchangeEnd::Complete }));
        }
    })
}

/// The profile of an API server names 50 000 resources, and each connection leads to a server of another version.
fn capture_of_versions(connections: u64) -> Vec<u8> {
    let mut profile = ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::VersionEndpoint);
    profile.uncached = (0..7_000).map(|number| format!("{number:05}")).collect();
    capture_of(connections, |number, record| {
        if number == 1 {
            record(Subject::Upstream(UpstreamName::default(), UpstreamObservation::Profile { profile: Box::new(profile.clone()) }));
        }
        let exchange = ExchangeId { connection: ConnectionId(number), stream: StreamId(1) };
        SMALL.connect(exchange.connection, number, record);
        record(Subject::Exchange(exchange, ExchangeObservation::Requested { request: Box::new(SMALL.request(number)) }));
        let version = format!("v1.{}.{}", 20 + number % 15, number % 7).parse().unwrap();
        record(Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Version(version) }));
    })
}

fn capture_of_long_names(requests: u64) -> Vec<u8> {
    const NAME: usize = 400_000;
    capture_of(requests, |number, record| {
        let mut info = RequestInfo::parse("GET", &format!("/api/v1/pods/{number}"), &ListOptions::default(), "");
        if let Some(resource) = &mut info.resource {
            resource.resource = format!("{number}{}", "x".repeat(NAME));
        }
        let request = Box::new(RequestLine { method: Some("GET".to_owned()), info: Some(info), ..RequestLine::default() });
        let exchange = ExchangeId { connection: ConnectionId(1), stream: StreamId(number) };
        record(Subject::Exchange(exchange, ExchangeObservation::Requested { request }));
    })
}

/// A capture of the observations that `of` records for each request, one millisecond apart.
fn capture_of(requests: u64, of: impl Fn(u64, &mut dyn FnMut(Subject))) -> Vec<u8> {
    let at = |number: u64| Timestamp::from_nanos(1_000_000_000 + number * 1_000_000);
    let (mut writer, mut bytes) = (Writer::new(at(0)), Vec::new());
    writer.begin_file(&mut bytes);
    for number in 1..=requests {
        of(number, &mut |subject| writer.record(&Observation { at: at(number), subject }, &mut bytes));
    }
    writer.end_file(FileEnd::Complete, &mut bytes);
    bytes
}

/// The peak memory of `read` on a capture, in bytes, and its report. The report is longer than the pipe, so `read` waits before it exits
/// and can be measured.
fn peak_of_read(capture: Vec<u8>) -> (u64, Value) {
    const PIPE: usize = 4 << 10;
    const LIMIT: Timespec = Timespec { tv_sec: 180, tv_nsec: 0 };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.cap");
    fs::write(&file, capture).unwrap();
    let (mut report, stdout) = pipe().unwrap();
    fcntl_setpipe_size(&stdout, PIPE).unwrap();
    let mut command = watchtap().unwrap();
    let mut read = command.arg("read").arg(&file).args(["--format", "json"]).stdout(stdout).stderr(Stdio::null()).spawn().unwrap();
    drop(command);
    let begun = poll(&mut [PollFd::new(&report, PollFlags::IN)], Some(&LIMIT)).unwrap();
    assert_eq!(begun, 1, "no report within {} s", LIMIT.tv_sec);
    let status = fs::read_to_string(format!("/proc/{}/status", read.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let peak = peak.unwrap_or_else(|| panic!("the report fits into {PIPE} bytes: {status}"));
    let mut text = String::new();
    report.read_to_string(&mut text).unwrap();
    read.wait().unwrap();
    (peak << 10, serde_json::from_str(&text).unwrap())
}
