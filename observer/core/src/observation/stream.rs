//! Decodes the bytes of one exchange's bodies as they pass.

use super::request::{RequestLine, ResponseLine};
use super::subject::ExchangeObservation;
use super::upgrade::WatchSocket;
use super::version_document::VersionDocument;
use super::vocabulary::{Body, BodyNotRead, ConnectionEnd, ExchangeEnd};
use crate::http::{Direction, Part};
use crate::k8s::{RequestInfo, Verb};
use crate::redacted::Redacted;
use crate::wire::{BodyKind, BodyReader, Fact, MediaType, ObjectRef, Unsupported, WatchFrame};

/// Maximum number of items or events in one observation; a read of 64 KiB rarely has more.
const BATCH: usize = 1024;
/// Maximum memory of the items or events in one observation, in bytes.
const BATCH_BYTES: usize = 128 << 10;

/// Reads the response body of one exchange and counts the bytes of both bodies.
///
/// Counts and facts are gathered while one piece of the connection is decoded, and reported at its end. So one read of the tap
/// gives few observations.
#[derive(Debug)]
pub(super) struct Stream {
    /// How to read the body; `None` for requests whose answers are only counted.
    expected: Option<BodyKind>,
    /// Whether both the request and the media type of its answer are unknown.
    is_unknown: bool,
    reader: Option<BodyReader>,
    /// The version document, if the client asked for it.
    version: Option<VersionDocument>,
    /// The WebSocket that a watch was upgraded to.
    socket: Option<Box<WatchSocket>>,
    has_body: bool,
    /// Whether the request only reads. The message of its refusal is then kept, because it concerns the options of the request, not
    /// an object.
    is_read: bool,
    items: Vec<ObjectRef>,
    events: Vec<WatchFrame>,
    /// Memory of these items and events, in bytes.
    gathered: usize,
    request_bytes: u64,
    response_bytes: u64,
}

impl Stream {
    pub(super) fn new(request: &RequestLine) -> Self {
        Self {
            expected: request.info.as_ref().and_then(expected_body),
            is_unknown: request.info.is_none(),
            reader: None,
            version: request.info.as_ref().and_then(VersionDocument::asked_for),
            socket: None,
            has_body: false,
            is_read: request.info.as_ref().is_some_and(|info| matches!(info.verb, Verb::Get | Verb::List | Verb::Watch)),
            items: Vec::new(),
            events: Vec::new(),
            gathered: 0,
            request_bytes: 0,
            response_bytes: 0,
        }
    }

    pub(super) fn response(&mut self, response: &ResponseLine, emit: &mut dyn FnMut(ExchangeObservation)) {
        let success = response.is_success();
        self.version.take_if(|_| !VersionDocument::is_in(response));
        let kind = match self.expected {
            Some(BodyKind::Watch) if !success => BodyKind::Document,
            Some(kind) => kind,
            None => return,
        };
        let content_type = response.content_type.as_deref().unwrap_or_default();
        let content_encoding = response.content_encoding.as_deref().unwrap_or_default();
        match BodyReader::new(kind, content_type, content_encoding) {
            Ok(reader) => self.reader = Some(reader),
            // A rejection by priority and fairness is plain text, and a response without a body has no type: neither is a loss.
            Err(Unsupported::MediaType) if content_type.is_empty() || (!success && content_type.starts_with("text/plain")) => {}
            Err(Unsupported::MediaType) => self.not_read(BodyNotRead::MediaType(media_type(content_type)), emit),
            Err(Unsupported::ContentCoding) => self.not_read(BodyNotRead::ContentCoding(content_encoding.to_owned()), emit),
        }
    }

    pub(super) fn body(&mut self, direction: Direction, bytes: &[u8], emit: &mut dyn FnMut(ExchangeObservation)) {
        self.count(direction, bytes.len() as u64);
        if direction == Direction::Response {
            self.has_body = true;
            self.version.take_if(|version| !version.push(bytes));
            self.recognize_watch(bytes);
            self.read(emit, |reader, sink| reader.push(bytes, sink));
        }
    }

    /// Recognises the answer to an unknown request as a watch if its bytes begin with an event, as only a watch's do. The server
    /// sends each event separately, so some piece soon begins with an event.
    fn recognize_watch(&mut self, bytes: &[u8]) {
        if self.is_unknown
            && self.reader.is_none()
            && let Some(media_type) = MediaType::of_watch(bytes)
        {
            self.is_unknown = false;
            self.reader = BodyReader::new(BodyKind::Watch, media_type.as_str(), "").ok();
        }
    }

    /// Notes that the exchange continues in another protocol. A watch over WebSocket is read; all others are only counted.
    pub(super) fn upgrade(&mut self, protocol: &str) {
        if protocol == "websocket" && self.expected == Some(BodyKind::Watch) {
            self.socket = Some(Box::default());
        }
    }

    /// Takes bytes of an upgraded exchange.
    pub(super) fn opaque(&mut self, direction: Direction, bytes: &[u8], emit: &mut dyn FnMut(ExchangeObservation)) {
        self.count(direction, bytes.len() as u64);
        self.on_socket(emit, |socket, sink| socket.push(direction, bytes, sink));
    }

    /// Notes a gap in the bytes of an upgraded exchange.
    pub(super) fn opaque_gap(&mut self, direction: Direction, length: u64, emit: &mut dyn FnMut(ExchangeObservation)) {
        self.count(direction, length);
        if self.socket.is_some() {
            emit(ExchangeObservation::BodyGap { direction, bytes: length });
        }
        self.on_socket(emit, |socket, sink| socket.gap(direction, length, sink));
    }

    /// Whether it is a watch over WebSocket that the server has closed.
    pub(super) fn is_closed_socket(&self) -> bool {
        self.socket.as_ref().is_some_and(|socket| socket.is_over())
    }

    /// How the exchange ended. `end` and `first_end` are those of the connection. For a watch over WebSocket, its first Close frame
    /// decides instead.
    pub(super) fn end(&self, end: ExchangeEnd, first_end: Option<ConnectionEnd>) -> ExchangeEnd {
        self.socket.as_ref().map_or(end, |socket| socket.end(first_end))
    }

    /// Counts bytes, whether they are read or missing.
    pub(super) fn count(&mut self, direction: Direction, bytes: u64) {
        match direction {
            Direction::Request => self.request_bytes = self.request_bytes.saturating_add(bytes),
            Direction::Response => self.response_bytes = self.response_bytes.saturating_add(bytes),
        }
    }

    pub(super) fn gap(&mut self, direction: Direction, length: u64) {
        self.count(direction, length);
        self.version = None;
        if direction == Direction::Response
            && let Some(reader) = &mut self.reader
        {
            self.has_body = true;
            reader.gap(length);
        }
    }

    /// Reports the data that the reader still holds, once the response is complete. A response without a body (HEAD, 204) has none.
    pub(super) fn finish(&mut self, emit: &mut dyn FnMut(ExchangeObservation)) {
        if self.has_body {
            self.read(emit, |reader, sink| reader.finish(sink));
        }
        if let Some(version) = self.version.take().and_then(|version| version.finish()) {
            emit(ExchangeObservation::BodyRead { body: Body::Version(version) });
        }
        self.flush(emit);
    }

    /// Memory of the items and events that are gathered and not yet reported, in bytes.
    pub(super) const fn gathered(&self) -> usize {
        self.gathered
    }

    /// Reports the gathered counts, items and events.
    pub(super) fn flush(&mut self, emit: &mut dyn FnMut(ExchangeObservation)) {
        self.gathered = 0;
        for (direction, bytes) in [(Direction::Request, &mut self.request_bytes), (Direction::Response, &mut self.response_bytes)] {
            if *bytes > 0 {
                emit(ExchangeObservation::BodyBytes { direction, bytes: std::mem::take(bytes) });
            }
        }
        if !self.items.is_empty() {
            emit(ExchangeObservation::BodyRead { body: Body::Items(std::mem::take(&mut self.items)) });
        }
        if !self.events.is_empty() {
            emit(ExchangeObservation::BodyRead { body: Body::Events(std::mem::take(&mut self.events)) });
        }
    }

    fn on_socket(
        &mut self,
        emit: &mut dyn FnMut(ExchangeObservation),
        feed: impl FnOnce(&mut WatchSocket, &mut dyn FnMut(Part<'_>)),
    ) {
        let Some(mut socket) = self.socket.take() else { return };
        feed(&mut socket, &mut |part| self.part(part, emit));
        self.socket = Some(socket);
    }

    /// Reads a part of a watch's messages. Their first byte shows their media type.
    fn part(&mut self, part: Part<'_>, emit: &mut dyn FnMut(ExchangeObservation)) {
        match part {
            Part::Message(Redacted(bytes)) => {
                self.begin_messages(bytes, emit);
                self.read(emit, |reader, sink| reader.push(bytes, sink));
            }
            Part::MessageGap(length) => {
                // The gap may include the first byte.
                self.has_body = true;
                self.reader.iter_mut().for_each(|reader| reader.gap(length));
            }
            Part::MessageEnd => self.read(emit, |reader, sink| reader.end_message(sink)),
            Part::Close(_) => {}
            Part::Malformed { at, what } => self.not_read(BodyNotRead::Malformed { at, what: what.to_owned() }, emit),
        }
    }

    fn begin_messages(&mut self, bytes: &[u8], emit: &mut dyn FnMut(ExchangeObservation)) {
        let Some(first) = bytes.first().filter(|_| !std::mem::replace(&mut self.has_body, true)) else { return };
        let media_type = MediaType::of_event(*first);
        match media_type.and_then(|media_type| BodyReader::new(BodyKind::Messages, media_type.as_str(), "").ok()) {
            Some(reader) => {
                self.reader = Some(reader);
                emit(ExchangeObservation::BodyRead {
                    body: Body::MediaType(media_type.map(MediaType::as_str).unwrap_or_default().to_owned()),
                });
            }
            None => self.not_read(BodyNotRead::MediaType("WebSocket messages of an unknown type".to_owned()), emit),
        }
    }

    fn not_read(&mut self, reason: BodyNotRead, emit: &mut dyn FnMut(ExchangeObservation)) {
        self.reader = None;
        emit(ExchangeObservation::BodyNotRead { reason });
    }

    fn read(&mut self, emit: &mut dyn FnMut(ExchangeObservation), feed: impl FnOnce(&mut BodyReader, &mut dyn FnMut(Fact))) {
        let Some(mut reader) = self.reader.take() else { return };
        let mut malformed = None;
        feed(&mut reader, &mut |fact| match self.fact(fact, emit) {
            Ok(()) => {}
            Err(reason) => malformed = Some(reason),
        });
        match malformed {
            Some(reason) => self.not_read(reason, emit),
            None => self.reader = Some(reader),
        }
    }

    fn fact(&mut self, fact: Fact, emit: &mut dyn FnMut(ExchangeObservation)) -> Result<(), BodyNotRead> {
        match fact {
            Fact::Item(item) => {
                self.gathered += item.memory();
                self.items.push(item);
                self.flush_if_full(emit);
            }
            Fact::Frame(frame) => {
                self.gathered += frame.memory();
                self.events.push(frame);
                self.flush_if_full(emit);
            }
            Fact::Kind { kind, .. } => emit(ExchangeObservation::BodyRead { body: Body::Kind(kind) }),
            Fact::ListMeta(meta) => emit(ExchangeObservation::BodyRead { body: Body::List(meta) }),
            Fact::Object(object) => emit(ExchangeObservation::BodyRead { body: Body::Object(object) }),
            Fact::Status(status) if self.is_read => emit(ExchangeObservation::BodyRead { body: Body::Status(status) }),
            Fact::Status(status) => emit(ExchangeObservation::BodyRead { body: Body::Status(Box::new(status.without_words())) }),
            Fact::Complete => {}
            Fact::Malformed { at, what } => return Err(BodyNotRead::Malformed { at, what: what.to_owned() }),
        }
        Ok(())
    }

    fn flush_if_full(&mut self, emit: &mut dyn FnMut(ExchangeObservation)) {
        if self.gathered >= BATCH_BYTES || self.items.len() >= BATCH || self.events.len() >= BATCH {
            self.flush(emit);
        }
    }
}

/// How to read the answer to `info`. Logs, exec streams and proxied bodies are private, and discovery documents have no facts that
/// are needed.
fn expected_body(info: &RequestInfo) -> Option<BodyKind> {
    info.resource.as_ref()?;
    match (info.verb, info.subresource.as_str()) {
        (Verb::Watch, "") => Some(BodyKind::Watch),
        (Verb::Proxy | Verb::Other, _) => None,
        (_, "" | "status" | "scale") => Some(BodyKind::Document),
        (_, _subresource) => None,
    }
}

/// A media type without its parameters, cut at [`BodyNotRead::MAX_MEDIA_TYPE`].
fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().chars().take(BodyNotRead::MAX_MEDIA_TYPE).collect()
}
