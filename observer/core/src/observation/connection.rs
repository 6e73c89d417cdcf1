//! The decoder of one connection: bytes in, observations out.

use std::collections::BTreeMap;

use super::blockage::Blockage;
use super::request::{RequestLine, ResponseLine};
use super::stream::Stream;
use super::subject::{ConnectionObservation, ExchangeObservation, Observation, Subject};
use super::vocabulary::{ConnectionEnd, ConnectionId, EndManner, ExchangeEnd, ExchangeId, Plaintext};
use crate::http::{self, Direction, Event, Gap, HeaderFields, Protocol, Start, StreamId};
use crate::time::Timestamp;

/// Maximum memory, in bytes, of the items and events that all streams together gather from one piece.
const MOST_GATHERED: usize = 256 << 10;

/// Decodes one connection between a client and the API server.
///
/// The same bytes give the same observations, however they are chunked. Only the batches of counts, items and events may differ.
#[derive(Debug)]
pub struct ConnectionDecoder {
    http: http::Connection,
    state: State,
    observed: Plaintext,
    missed: Plaintext,
}

/// The state without the HTTP decoder. It is a type of its own, so that both can be borrowed at once.
#[derive(Debug)]
struct State {
    connection: ConnectionId,
    /// The path in front of the API server's paths; empty if there is none.
    path_prefix: String,
    /// Boxed, because a node of the map has room for eleven values, and most connections have one stream.
    streams: BTreeMap<StreamId, Box<Stream>>,
    /// Streams to flush at the end of this piece, in the order in which they were touched.
    touched: Vec<StreamId>,
    /// Memory of the items and events that they gathered, in bytes.
    gathered: usize,
    /// Whether responses can no longer be decoded. A new request is then reported, and its exchange ends at once as not observed.
    response_is_undecoded: bool,
    /// When the bytes that are now decoded were read.
    at: Timestamp,
    /// The half that ended first, and how. Exchanges without an end of their own count as cut by it.
    first_end: Option<ConnectionEnd>,
}

impl ConnectionDecoder {
    /// A decoder of a connection that is observed from its first byte. `protocol` is the choice of ALPN. `path_prefix` is the path
    /// in front of the API server's paths; empty if there is none.
    pub fn new(connection: ConnectionId, protocol: Option<Protocol>, path_prefix: &str) -> Self {
        Self::starting(Start::Beginning, connection, protocol, path_prefix)
    }

    /// A decoder of a connection whose first bytes were not seen. It reports nothing until it is certain of a boundary between
    /// messages or frames. Header fields that refer to the lost HPACK table stay unknown.
    pub fn from_middle(connection: ConnectionId, protocol: Option<Protocol>, path_prefix: &str) -> Self {
        Self::starting(Start::Middle, connection, protocol, path_prefix)
    }

    fn starting(start: Start, connection: ConnectionId, protocol: Option<Protocol>, path_prefix: &str) -> Self {
        let state = State {
            connection,
            path_prefix: path_prefix.to_owned(),
            streams: BTreeMap::new(),
            touched: Vec::new(),
            gathered: 0,
            response_is_undecoded: false,
            at: Timestamp::default(),
            first_end: None,
        };
        Self { http: http::Connection::new(start, protocol), state, observed: Plaintext::default(), missed: Plaintext::default() }
    }

    /// Decodes the next bytes of one direction.
    pub fn bytes(&mut self, at: Timestamp, direction: Direction, bytes: &[u8], emit: &mut dyn FnMut(Observation)) {
        // Counted first, because the decoder may fail.
        *self.observed.of(direction) += bytes.len() as u64;
        self.decode(at, emit, |http, sink| http.bytes(direction, bytes, sink));
    }

    /// Takes header fields in plaintext. Later bytes of that direction have the same fields in their header blocks.
    pub fn fields(&mut self, direction: Direction, fields: &HeaderFields) {
        self.http.fields(direction, fields);
    }

    /// Notes a gap: forwarded bytes that the decoder was not given.
    pub fn gap(&mut self, at: Timestamp, direction: Direction, gap: Gap, emit: &mut dyn FnMut(Observation)) {
        *self.missed.of(direction) += gap.length;
        let stream = gap.stream.map(|stream| StreamId(u64::from(stream)));
        emit(Observation { at, subject: self.state.observed(ConnectionObservation::Gap { stream, direction, bytes: gap.length }) });
        self.decode(at, emit, |http, sink| http.gap(direction, gap, sink));
    }

    /// Notes that one side ended its half.
    pub fn end(&mut self, at: Timestamp, direction: Direction, manner: EndManner, emit: &mut dyn FnMut(Observation)) {
        let end = ConnectionEnd { direction, manner };
        self.state.first_end.get_or_insert(end);
        emit(Observation { at, subject: self.state.observed(ConnectionObservation::HalfEnded { end }) });
        self.decode(at, emit, |http, sink| http.end(direction, sink));
    }

    /// Notes that the client's socket accepts no more bytes since `since`; with `None`, that it accepts them again.
    pub fn socket_blocked(&mut self, at: Timestamp, since: Option<Timestamp>, emit: &mut dyn FnMut(Observation)) {
        let (stream, by) = (None, Blockage::Socket);
        let observed = match since {
            Some(since) => ConnectionObservation::Blocked { stream, by, since },
            None => ConnectionObservation::Unblocked { stream, by },
        };
        emit(Observation { at, subject: self.state.observed(observed) });
    }

    /// Number of bytes that the decoder was given so far.
    pub const fn observed(&self) -> Plaintext {
        self.observed
    }

    /// Number of bytes in gaps so far.
    pub const fn missed(&self) -> Plaintext {
        self.missed
    }

    /// Notes that the connection is no longer observed, although it may continue.
    pub fn lose_sight(&mut self, at: Timestamp, emit: &mut dyn FnMut(Observation)) {
        self.state.lose_sight(&mut |subject| emit(Observation { at, subject }));
    }

    /// Notes that the connection is closed, even if its halves did not end. `forwarded` counts the bytes that the tap read in order
    /// to forward them.
    pub fn close(&mut self, at: Timestamp, forwarded: Plaintext, emit: &mut dyn FnMut(Observation)) {
        let mut emit = |subject| emit(Observation { at, subject });
        let first_end = self.state.first_end;
        for (stream, mut open) in std::mem::take(&mut self.state.streams) {
            let exchange = self.state.exchange(stream);
            open.flush(&mut |observed| emit(Subject::Exchange(exchange, observed)));
            let end = open.end(ExchangeEnd::Cut(first_end), first_end);
            emit(Subject::Exchange(exchange, ExchangeObservation::Ended { end }));
        }
        emit(self.state.observed(ConnectionObservation::Closed { forwarded, observed: self.observed }));
    }

    fn decode(
        &mut self,
        at: Timestamp,
        emit: &mut dyn FnMut(Observation),
        feed: impl FnOnce(&mut http::Connection, &mut dyn FnMut(Event<'_>)),
    ) {
        let mut emit = |subject| emit(Observation { at, subject });
        let state = &mut self.state;
        state.at = at;
        feed(&mut self.http, &mut |event| {
            state.event(event, &mut emit);
            if state.gathered >= MOST_GATHERED {
                state.flush(&mut emit);
            }
        });
        state.flush(&mut emit);
    }
}

impl State {
    const fn exchange(&self, stream: StreamId) -> ExchangeId {
        ExchangeId { connection: self.connection, stream }
    }

    const fn observed(&self, observed: ConnectionObservation) -> Subject {
        Subject::Connection(self.connection, observed)
    }

    const fn observed_of(&self, stream: StreamId, observed: ExchangeObservation) -> Subject {
        Subject::Exchange(self.exchange(stream), observed)
    }

    fn event(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Subject)) {
        match event {
            Event::Request { stream, head } => self.request(stream, &RequestLine::of(&head, &self.path_prefix), emit),
            Event::Informational { stream, status } => {
                emit(self.observed_of(stream, ExchangeObservation::InterimResponse { status }));
            }
            Event::Response { stream, head } => self.response(stream, &ResponseLine::of(&head), emit),
            Event::Body { stream, direction, bytes } => self.on(stream, emit, |open, emit| open.body(direction, bytes.0, emit)),
            Event::BodyGap { stream, direction, length } => {
                emit(self.observed_of(stream, ExchangeObservation::BodyGap { direction, bytes: length }));
                self.on(stream, emit, |open, _| open.gap(direction, length));
            }
            Event::Opaque { stream, direction, bytes } => {
                self.on(stream, emit, |open, emit| open.opaque(direction, bytes.0, emit));
                self.finish_closed_socket(stream, emit);
            }
            Event::OpaqueGap { stream, direction, length } => {
                self.on(stream, emit, |open, emit| open.opaque_gap(direction, length, emit));
                self.finish_closed_socket(stream, emit);
            }
            Event::MessageEnd { stream, direction: Direction::Response } => self.finish(stream, ExchangeEnd::Complete, emit),
            Event::MessageCut { stream, direction: Direction::Response } => {
                self.finish(stream, ExchangeEnd::Cut(self.first_end), emit);
            }
            Event::MessageEnd { direction: Direction::Request, .. }
            | Event::MessageCut { direction: Direction::Request, .. }
            | Event::Window { direction: Direction::Request, .. } => {}
            Event::Reset { stream, by, code } => self.finish(stream, ExchangeEnd::Reset { by, code }, emit),
            Event::Upgraded { stream, protocol } => {
                self.on(stream, emit, |open, _| open.upgrade(&protocol));
                emit(self.observed_of(stream, ExchangeObservation::Upgraded { protocol }));
            }
            Event::Window { stream, direction: Direction::Response, used_up } => {
                let by = if stream.is_some() { Blockage::StreamWindow } else { Blockage::ConnectionWindow };
                emit(self.observed(if used_up {
                    ConnectionObservation::Blocked { stream, by, since: self.at }
                } else {
                    ConnectionObservation::Unblocked { stream, by }
                }));
            }
            Event::GoAway { by, code, .. } => emit(self.observed(ConnectionObservation::GoAway { by, code })),
            Event::Malformed { direction, at, what } => {
                emit(self.observed(ConnectionObservation::Malformed { direction, offset: at, what: what.to_owned() }));
            }
            Event::DecodingStopped { direction, loss } => self.decoding_stopped(direction, loss, emit),
        }
    }

    fn request(&mut self, stream: StreamId, request: &RequestLine, emit: &mut dyn FnMut(Subject)) {
        emit(self.observed_of(stream, ExchangeObservation::Requested { request: Box::new(request.clone()) }));
        if self.response_is_undecoded {
            emit(self.observed_of(stream, ExchangeObservation::Ended { end: ExchangeEnd::NotObserved }));
        } else {
            self.streams.insert(stream, Box::new(Stream::new(request)));
        }
    }

    fn response(&mut self, stream: StreamId, response: &ResponseLine, emit: &mut dyn FnMut(Subject)) {
        emit(self.observed_of(stream, ExchangeObservation::Responded { response: Box::new(response.clone()) }));
        self.on(stream, emit, |open, emit| open.response(response, emit));
    }

    /// Reports the data that the streams have gathered.
    fn flush(&mut self, emit: &mut dyn FnMut(Subject)) {
        self.gathered = 0;
        for stream in std::mem::take(&mut self.touched) {
            let exchange = self.exchange(stream);
            if let Some(open) = self.streams.get_mut(&stream) {
                open.flush(&mut |observed| emit(Subject::Exchange(exchange, observed)));
            }
        }
    }

    fn on(
        &mut self,
        stream: StreamId,
        emit: &mut dyn FnMut(Subject),
        act: impl FnOnce(&mut Stream, &mut dyn FnMut(ExchangeObservation)),
    ) {
        let exchange = self.exchange(stream);
        if let Some(open) = self.streams.get_mut(&stream) {
            let before = open.gathered();
            act(open, &mut |observed| emit(Subject::Exchange(exchange, observed)));
            self.gathered += open.gathered().saturating_sub(before);
            if self.touched.last() != Some(&stream) {
                self.touched.push(stream);
            }
        }
    }

    /// The watch does not last until the connection ends, which a client may keep open for seconds.
    fn finish_closed_socket(&mut self, stream: StreamId, emit: &mut dyn FnMut(Subject)) {
        if self.streams.get(&stream).is_some_and(|open| open.is_closed_socket()) {
            self.finish(stream, ExchangeEnd::Complete, emit);
        }
    }

    fn finish(&mut self, stream: StreamId, end: ExchangeEnd, emit: &mut dyn FnMut(Subject)) {
        if let Some(mut open) = self.streams.remove(&stream) {
            let exchange = self.exchange(stream);
            let mut emit = |observed| emit(Subject::Exchange(exchange, observed));
            let end = open.end(end, self.first_end);
            match end {
                ExchangeEnd::Complete => open.finish(&mut emit),
                // The body is incomplete because the exchange is, not because it is malformed.
                ExchangeEnd::Reset { .. } | ExchangeEnd::Cut(_) | ExchangeEnd::NotObserved => open.flush(&mut emit),
            }
            emit(ExchangeObservation::Ended { end });
        }
    }

    /// Reports that one direction is no longer decoded. Without responses, open exchanges continue unobserved. Without requests,
    /// later responses cannot be matched.
    fn decoding_stopped(&mut self, direction: Direction, loss: http::Loss, emit: &mut dyn FnMut(Subject)) {
        emit(self.observed(ConnectionObservation::DecodingStopped { direction, loss }));
        if direction == Direction::Response {
            self.response_is_undecoded = true;
            self.lose_sight(emit);
        }
    }

    fn lose_sight(&mut self, emit: &mut dyn FnMut(Subject)) {
        for (stream, mut open) in std::mem::take(&mut self.streams) {
            let exchange = self.exchange(stream);
            let mut emit = |observed| emit(Subject::Exchange(exchange, observed));
            open.flush(&mut emit);
            emit(ExchangeObservation::Ended { end: ExchangeEnd::NotObserved });
        }
    }
}
