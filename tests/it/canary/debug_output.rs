//! `Debug` output of the core's types: after each piece of canary traffic, every live value is printed.

use std::any::type_name;
use std::collections::BTreeSet;
use std::fmt::{Debug, Write};

use observer_core::capture::{FileEnd, Reader, Record, Replay, Writer};
use observer_core::http::hpack;
use observer_core::http::{
    Blocks, Connection, Direction, Event, Field, FrameWalker, HeaderFields, Part, Protocol, Start, WebSocket,
};
use observer_core::k8s::{Container, ListOptions, Pod, Unnamed, Workload};
use observer_core::metrics::MetricsReader;
use observer_core::observation::{
    Body, CaptureObservation, CgroupOwner, ConnectionDecoder, ConnectionId, ConnectionObservation, EndManner, ExchangeObservation,
    ListenerState, Observation, Plaintext, Process, RunObservation, Subject, TapObservation, UpstreamName, UpstreamObservation,
};
use observer_core::observer::{Comparison, Limits, Observer};
use observer_core::time::Timestamp;
use observer_core::wire::{BodyKind, BodyReader, ContentCoding, MediaType};

use super::bodies::{NAME, secrets_cbor, secrets_gzip, secrets_json, secrets_protobuf, table_json, watch_json};
use super::core_types::TYPES;
use super::followed::followed;
use super::http2::{END_HEADERS, END_STREAM, HEADERS, frame, plain_request_fields, request_fields};
use super::log_lines::logs;
use super::secrets::{search, secret};
use super::traffic::{Conversation, conversations};

/// Chunk sizes in bytes. The second splits every line, frame and value somewhere.
const CHUNKS: [usize; 2] = [usize::MAX, 17];

#[test]
fn debug_output_of_core_types_shows_no_canary() {
    let search = search(Vec::new());
    let mut types = BTreeSet::new();
    let mut names = String::new();
    for chunk in CHUNKS {
        for shown in everything(chunk) {
            let hits = search.hits(shown.text.as_bytes());
            let hits: Vec<String> = hits.iter().map(ToString::to_string).collect();
            assert!(hits.is_empty(), "{}, {chunk} bytes at a time:\n{}", shown.of, hits.join("\n"));
            types.extend(shown.types);
            names.push_str(&shown.text);
        }
    }
    assert!(names.contains(NAME), "nothing of the traffic was read");
    let is_shown = |name: &&str| {
        let bare = name.rsplit("::").next().unwrap();
        types.contains(*name)
            || [" ", "(", "\n", "["]
                .iter()
                .any(|before| names.contains(&format!("{before}{bare} {{")) || names.contains(&format!("{before}{bare}(")))
    };
    let unseen: Vec<&&str> = TYPES.iter().filter(|name| !is_shown(name)).collect();
    assert!(unseen.is_empty(), "never printed: {unseen:?}");
}

/// The printed text, and the types seen.
pub(super) struct Shown {
    of: &'static str,
    text: String,
    types: BTreeSet<String>,
}

impl Shown {
    pub(super) fn new(of: &'static str) -> Self {
        Self { of, text: String::new(), types: BTreeSet::new() }
    }

    /// Prints a value; the first of each type in both `Debug` forms.
    pub(super) fn note<T: Debug>(&mut self, value: &T) {
        writeln!(self.text, "{value:?}").unwrap();
        // The search ignores line breaks, so one pretty-printed value per type suffices.
        if self.types.insert(short(type_name::<T>())) {
            writeln!(self.text, "{value:#?}").unwrap();
        }
    }
}

/// Shortens `observer_core::http::event::Event<'_>` to `http::Event`.
fn short(name: &str) -> String {
    let bare = name.split('<').next().unwrap_or_default().trim_start_matches('&');
    let mut segments = bare.trim_start_matches("observer_core::").split("::");
    let module = segments.next().unwrap_or_default();
    format!("{module}::{}", segments.last().unwrap_or_default())
}

fn everything(chunk: usize) -> Vec<Shown> {
    let conversations = conversations();
    let mut shown: Vec<Shown> = conversations.iter().map(|one| connection(one, chunk)).collect();
    shown.extend(conversations.iter().map(|one| walked(one, chunk)));
    shown.push(observed(&conversations, chunk));
    shown.push(followed(&conversations));
    shown.extend(bodies(chunk));
    shown.extend([header_blocks(chunk), known_fields(chunk), sockets(chunk), pages(chunk), logs()]);
    shown
}

fn connection(conversation: &Conversation, chunk: usize) -> Shown {
    let mut shown = Shown::new(conversation.name);
    for (start, protocol) in [(Start::Beginning, Some(protocol(conversation))), (Start::Beginning, None), (Start::Middle, None)] {
        shown.note(&start);
        let mut connection = Connection::new(start, protocol);
        for (direction, bytes) in &conversation.said {
            for piece in bytes.chunks(chunk.min(bytes.len())) {
                connection.bytes(*direction, piece, &mut |event| note_event(&mut shown, &event));
                shown.note(&connection);
            }
        }
        for direction in [Direction::Request, Direction::Response] {
            connection.end(direction, &mut |event| note_event(&mut shown, &event));
        }
        shown.note(&connection);
    }
    shown
}

fn note_event(shown: &mut Shown, event: &Event<'_>) {
    shown.note(event);
    if let Event::Request { head, .. } = event {
        shown.note(&head.identity);
        if let Field::Known(identity) = &head.identity {
            shown.note(identity);
        }
        if let Field::Known(target) = &head.target {
            shown.note(&ListOptions::parse(&target.query).continue_token);
        }
    }
}

fn walked(conversation: &Conversation, chunk: usize) -> Shown {
    let mut shown = Shown::new(conversation.name);
    let mut walkers = [FrameWalker::of_requests(), FrameWalker::of_responses()];
    for (direction, bytes) in &conversation.said {
        let walker = &mut walkers[usize::from(*direction == Direction::Response)];
        for piece in bytes.chunks(chunk.min(bytes.len())) {
            walker.walk(piece, |span| shown.note(&span));
            shown.note(walker);
        }
    }
    shown
}

fn header_blocks(chunk: usize) -> Shown {
    let mut shown = Shown::new("a header block");
    let block = request_fields();
    for mut decoder in [hpack::Decoder::from_beginning(), hpack::Decoder::from_middle()] {
        for piece in block.chunks(chunk.min(block.len())) {
            let read = decoder.fragment(piece, &mut |line| {
                shown.note(line);
                shown.note(&line.name);
                shown.note(&line.value);
            });
            shown.note(&read);
            shown.note(&decoder);
        }
        shown.note(&decoder.finish());
    }
    shown
}

/// Plaintext fields ahead of a header block whose dynamic table was lost.
fn known_fields(chunk: usize) -> Shown {
    let mut shown = Shown::new("header fields that were told");
    let mut fields = HeaderFields::new(Blocks::OfStream(7));
    for (name, value) in plain_request_fields() {
        shown.note(&fields.push(name.as_bytes(), value.as_bytes()));
        shown.note(&fields);
    }
    let mut connection = Connection::new(Start::Middle, Some(Protocol::Http2));
    connection.fields(Direction::Request, &fields);
    shown.note(&connection);
    let block = frame(HEADERS, END_STREAM | END_HEADERS, 7, &(2..=7).map(|index| 0xc0 | index).collect::<Vec<u8>>());
    for piece in block.chunks(chunk.min(block.len())) {
        connection.bytes(Direction::Request, piece, &mut |event| note_event(&mut shown, &event));
        shown.note(&connection);
    }
    shown
}

/// Passes all connections through one Observer, through a capture, and through a reader of that capture.
fn observed(conversations: &[Conversation], chunk: usize) -> Shown {
    let mut shown = Shown::new("the Observer");
    let mut observer = Observer::new(Limits::default());
    let mut writer = Writer::new(Timestamp::default());
    let mut file = Vec::new();
    writer.begin_file(&mut file);
    for (number, conversation) in (1..).zip(conversations) {
        let connection = ConnectionId(number);
        let protocol = Some(protocol(conversation));
        let upstream = UpstreamName(format!("api-server-{}:6443", number % 2));
        let opened = Observation {
            at: Timestamp::default(),
            subject: Subject::Connection(
                connection,
                ConnectionObservation::Opened {
                    upstream: upstream.clone(),
                    protocol,
                    process: Some(process()),
                    container_name: None,
                    attached_late: false,
                    logged: None,
                },
            ),
        };
        let profile = Subject::Upstream(upstream.clone(), UpstreamObservation::Profile { profile: Box::default() });
        let mut observations = vec![Observation { at: Timestamp::default(), subject: profile }, opened];
        let mut decoder = ConnectionDecoder::new(connection, protocol, "");
        for (direction, bytes) in &conversation.said {
            for piece in bytes.chunks(chunk.min(bytes.len())) {
                decoder.bytes(Timestamp::default(), *direction, piece, &mut |observation| observations.push(observation));
                shown.note(&decoder);
            }
        }
        decoder.end(Timestamp::default(), Direction::Response, EndManner::CloseNotify, &mut |one| observations.push(one));
        decoder.close(Timestamp::default(), Plaintext::default(), &mut |one| observations.push(one));
        for observation in observations {
            note_observation(&mut shown, &observation);
            writer.record(&observation, &mut file);
            let is_request = matches!(observation.subject, Subject::Exchange(_, ExchangeObservation::Requested { .. }));
            observer.observe(observation, &mut |event| shown.note(&event));
            if is_request {
                shown.note(&observer);
            }
        }
        shown.note(&writer);
    }
    let refusing = Subject::Upstream(
        UpstreamName("api-server-1:6443".to_owned()),
        UpstreamObservation::Listener { state: ListenerState::Refusing },
    );
    let failed = Subject::Tap(TapObservation::ConnectFailed { why: "no route to host".to_owned() });
    let ended = Subject::Capture(CaptureObservation::Ended { why: "no space left on device".to_owned() });
    let fault = Subject::Run(RunObservation::Fault { act: "expire all".to_owned(), note: "the watch caches are reset".to_owned() });
    for subject in [refusing, failed, ended, fault, Subject::Run(RunObservation::ShutdownRequested)] {
        let observation = Observation { at: Timestamp::default(), subject };
        note_observation(&mut shown, &observation);
        observer.observe(observation, &mut |event| shown.note(&event));
    }
    shown.note(&observer);
    let snapshot = observer.snapshot();
    shown.note(&snapshot);
    shown.note(&CgroupOwner::Container(container()));
    shown.note(&observer.samples());
    snapshot.lists.iter().filter_map(|row| row.shape.scope.as_ref()).for_each(|scope| shown.note(scope));
    let comparison = Comparison::of(&snapshot, &Observer::new(Limits::default()).snapshot());
    shown.note(&comparison);
    writer.end_file(FileEnd::Complete, &mut file);
    replayed(&file, chunk, &mut shown);
    shown
}

/// A container, made from the text that names it.
fn container() -> Container {
    let cgroup = format!("/kubepods/pod{}/{}", "d".repeat(32), "c".repeat(64));
    let workload = Workload::of_pod("controller-0");
    let pod = Pod { namespace: "default".to_owned(), name: "controller-0".to_owned(), workload };
    let named = Container { pod: Some(pod), name: Some("controller".to_owned()), ..Container::of_cgroup(&cgroup).unwrap() };
    Container { unnamed: Some(Unnamed::NoLogFolder), ..named }
}

fn process() -> Process {
    let process = Process::new(4711, 1, "controller".to_owned());
    Process { unit: Some("controller.service".to_owned()), ..process.owned_by(Some(CgroupOwner::Container(container()))) }
}

fn note_observation(shown: &mut Shown, observation: &Observation) {
    shown.note(observation);
    shown.note(&observation.subject);
    match &observation.subject {
        Subject::Connection(_, observed) => shown.note(observed),
        Subject::Exchange(_, observed) => note_exchange(shown, observed),
        Subject::Upstream(_, observed) => shown.note(observed),
        Subject::Tap(observed) => shown.note(observed),
        Subject::Capture(observed) => shown.note(observed),
        Subject::Run(observed) => shown.note(observed),
        Subject::Unknown => {}
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all others are shown whole")]
fn note_exchange(shown: &mut Shown, observed: &ExchangeObservation) {
    shown.note(observed);
    match observed {
        ExchangeObservation::BodyRead { body } => {
            shown.note(body);
            if let Body::Events(events) = body {
                for event in events {
                    shown.note(event);
                }
            }
        }
        ExchangeObservation::BodyNotRead { reason } => shown.note(reason),
        ExchangeObservation::Requested { request } => shown.note(&**request),
        ExchangeObservation::Responded { response } => shown.note(&**response),
        _ => {}
    }
}

fn replayed(file: &[u8], chunk: usize, shown: &mut Shown) {
    let (mut reader, mut replay) = (Reader::default(), Replay::default());
    for piece in file.chunks(chunk.min(file.len())) {
        reader.bytes(piece, &mut |record: Record| shown.note(&record));
        replay.bytes(piece, &mut |replayed| shown.note(&replayed));
        shown.note(&reader);
        shown.note(&replay);
    }
}

fn bodies(chunk: usize) -> Vec<Shown> {
    let json = secrets_json("secret data json");
    let broken = json.replace(r#""stringData":"#, &secret("bad json"));
    let torn = [&secrets_protobuf("bad protobuf")[..60], secret("bad protobuf").as_bytes()].concat();
    let document = BodyKind::Document;
    let bodies: [(&'static str, BodyKind, &str, &str, Vec<u8>); 9] = [
        ("a JSON body", document, "application/json", "", json.into_bytes()),
        ("a JSON body with an error", document, "application/json", "", broken.into_bytes()),
        ("a gzip body", document, "application/json", "gzip", secrets_gzip()),
        ("a table", document, "application/json", "", table_json().into_bytes()),
        ("a protobuf body", document, "application/vnd.kubernetes.protobuf", "", secrets_protobuf("secret data protobuf")),
        ("a protobuf body with an error", document, "application/vnd.kubernetes.protobuf", "", torn),
        ("a CBOR body", document, "application/cbor", "", secrets_cbor()),
        ("a watch", BodyKind::Watch, "application/json", "", watch_json("watch event").into_bytes()),
        ("messages", BodyKind::Messages, "application/json", "", watch_json("watch event websocket").into_bytes()),
    ];
    let each = bodies.into_iter().map(|(of, kind, media_type, coding, bytes)| {
        let mut shown = Shown::new(of);
        if let Err(unsupported) = BodyReader::new(kind, &secret("bad json"), coding) {
            shown.note(&unsupported);
        }
        if let (Some(media_type), Some(coding)) = (MediaType::of(media_type), ContentCoding::of(coding)) {
            shown.note(&media_type);
            shown.note(&coding);
        }
        let mut reader = BodyReader::new(kind, media_type, coding).unwrap();
        for piece in bytes.chunks(chunk.min(bytes.len())) {
            reader.push(piece, &mut |fact| shown.note(&fact));
            shown.note(&reader);
        }
        reader.end_message(&mut |fact| shown.note(&fact));
        reader.finish(&mut |fact| shown.note(&fact));
        shown.note(&reader);
        shown
    });
    each.collect()
}

/// Passes exec streams to the WebSocket reader, which could mistake them for a watch.
fn sockets(chunk: usize) -> Shown {
    let mut shown = Shown::new("a WebSocket");
    for first in [0x81, 0x82, 0x88, 0x89, 0xff] {
        let payload = secret("exec stdout websocket");
        let bytes = [&[first, u8::try_from(payload.len()).unwrap()], payload.as_bytes()].concat();
        let mut socket = WebSocket::default();
        for piece in bytes.chunks(chunk.min(bytes.len())).chain([payload.as_bytes()]) {
            socket.push(piece, &mut |part: Part<'_>| shown.note(&part));
            shown.note(&socket);
        }
    }
    shown
}

fn pages(chunk: usize) -> Shown {
    let mut shown = Shown::new("a page of /metrics");
    let comment = secret("metrics comment");
    let page =
        format!("# HELP {comment} x\n# {comment}\n{comment}{{ no sample\napiserver_request_total{{code=\"200\"}} 7\n{comment}");
    let mut reader = MetricsReader::default();
    for piece in page.as_bytes().chunks(chunk.min(page.len())) {
        reader.push(piece, &mut |sample| shown.note(sample));
        shown.note(&reader);
    }
    let unread = reader.finish(&mut |sample| shown.note(sample));
    shown.note(&unread);
    shown
}

/// Replays a log with one event, in an envelope and in parts.
pub(super) fn protocol(conversation: &Conversation) -> Protocol {
    if conversation.protocol == "h2" { Protocol::Http2 } else { Protocol::Http1 }
}
