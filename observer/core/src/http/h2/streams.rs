//! The open streams of a connection.
//!
//! A stream is open from its request's head. On a connection that is decoded from its middle, streams with a response but an
//! unknown request are here too. Frames of all other streams (pushed, or still under way after a reset) change the header table and
//! the flow control, and are not reported.
//!
//! A stream that is over needs no entry. Identifiers only grow (RFC 9113 §5.1.1), so one that is not open and not above the highest
//! is over.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Direction, Event, Field, Start, StreamId};
use super::head::{Fields, unknown_request};
use super::payload::Piece;
use super::stream::{Carries, ResponseState, Stream, StreamError};

/// Maximum number of streams open at once; an API server allows 100 to 1000 on a connection.
const MAX_OPEN: usize = 10_000;

/// Maximum number of streams from before decoding began that are remembered as over. Once it is reached, no further such streams
/// are reported, because one that is over could be reported twice.
const MAX_FORMER: usize = 10_000;

/// More than [`MAX_OPEN`] streams are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManyStreams;

/// The open streams.
#[derive(Debug)]
pub(super) struct Streams {
    start: Start,
    open: BTreeMap<u32, Stream>,
    /// The first stream whose request head was seen.
    lowest: Option<u32>,
    /// The highest stream with a header block in the direction of requests.
    highest: u32,
    /// Streams that are over, and whose request was not seen.
    former: BTreeSet<u32>,
}

impl Streams {
    pub(super) fn new(start: Start) -> Self {
        Self { start, open: BTreeMap::new(), lowest: None, highest: 0, former: BTreeSet::new() }
    }

    pub(super) const fn start(&self) -> Start {
        self.start
    }

    pub(super) fn get(&self, id: u32) -> Option<&Stream> {
        self.open.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Stream> {
        self.open.get_mut(&id)
    }

    /// Identifiers of all open streams, in ascending order.
    pub(super) fn ids(&self) -> Vec<u32> {
        self.open.keys().copied().collect()
    }

    /// Whether a header block on `id` in the direction of requests begins a request. Otherwise it is trailers, or belongs to a
    /// stream that is over or from before decoding began.
    pub(super) fn begins_request(&self, id: u32, fields: &Fields) -> bool {
        let new = id > self.highest && !self.open.contains_key(&id);
        let head_for_sure = match self.start {
            Start::Beginning => true,
            // After the first seen request head, each new stream begins with one.
            Start::Middle => fields.has_pseudo_header() || self.lowest.is_some_and(|lowest| id > lowest),
        };
        new && head_for_sure
    }

    /// Opens a stream with a request's head; `response` is the state of its response.
    pub(super) fn open(
        &mut self,
        id: u32,
        fields: Fields,
        response: ResponseState,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), TooManyStreams> {
        if self.open.len() >= MAX_OPEN {
            return Err(TooManyStreams);
        }
        let (stream, head) = (StreamId(u64::from(id)), fields.into_request());
        let connect = matches!(&head.method, Field::Known(method) if method == "CONNECT");
        self.lowest.get_or_insert(id);
        self.open.insert(id, Stream::new(stream, response, connect));
        sink(Event::Request { stream, head });
        Ok(())
    }

    /// Handles a frame of a response on `id`. If it answers a request from before decoding began, reports that request now.
    pub(super) fn adopt(&mut self, id: u32, sink: &mut dyn FnMut(Event<'_>)) {
        let is_former = match self.start {
            Start::Beginning => false,
            Start::Middle => self.is_unseen(id) && !self.open.contains_key(&id) && !self.former.contains(&id),
        };
        if !is_former || self.former.len() >= MAX_FORMER || self.open.len() >= MAX_OPEN {
            return;
        }
        let stream = StreamId(u64::from(id));
        self.open.insert(id, Stream::former(stream));
        sink(Event::Request { stream, head: unknown_request() });
    }

    /// Whether `id` is a client's stream whose request was not seen.
    fn is_unseen(&self, id: u32) -> bool {
        let is_among_seen = self.lowest.is_some_and(|lowest| (lowest..=self.highest).contains(&id));
        !is_among_seen && !id.is_multiple_of(2)
    }

    fn note_over(&mut self, id: u32) {
        if self.start == Start::Middle && self.is_unseen(id) && self.former.len() < MAX_FORMER {
            self.former.insert(id);
        }
    }

    /// Notes that a header block on `id` was seen in the direction of requests.
    pub(super) fn note_request_block(&mut self, id: u32) {
        self.highest = self.highest.max(id);
    }

    /// Handles a header block of an open stream, other than a request's head.
    pub(super) fn block(
        &mut self,
        direction: Direction,
        id: u32,
        fields: Fields,
        end_stream: bool,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), StreamError> {
        let Some(stream) = self.open.get_mut(&id) else { return Ok(()) };
        match direction {
            Direction::Request => stream.request_trailers(end_stream, sink)?,
            Direction::Response => stream.response_block(fields, end_stream, sink)?,
        }
        self.forget_if_over(id);
        Ok(())
    }

    /// Handles the beginning of a DATA frame.
    pub(super) fn data(&mut self, direction: Direction, id: u32, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), StreamError> {
        self.open.get_mut(&id).map_or(Ok(()), |stream| stream.data(direction, sink))
    }

    /// Handles a piece of a DATA frame's content.
    pub(super) fn piece(&self, direction: Direction, id: u32, piece: Piece<'_>, sink: &mut dyn FnMut(Event<'_>)) {
        let carries = self.open.get(&id).map_or(Carries::Nothing, |stream| stream.carries(direction));
        let stream = StreamId(u64::from(id));
        match (carries, piece) {
            (Carries::Body, Piece::Content(bytes)) => sink(Event::Body { stream, direction, bytes }),
            (Carries::Body, Piece::Missing(length)) => {
                sink(Event::BodyGap { stream, direction, length: u64::from(length) });
            }
            (Carries::Tunnel, Piece::Content(bytes)) => sink(Event::Opaque { stream, direction, bytes }),
            (Carries::Tunnel, Piece::Missing(length)) => {
                sink(Event::OpaqueGap { stream, direction, length: u64::from(length) });
            }
            (Carries::Nothing, _) => {}
        }
    }

    /// Handles `END_STREAM`.
    pub(super) fn end(&mut self, direction: Direction, id: u32, sink: &mut dyn FnMut(Event<'_>)) {
        if let Some(stream) = self.open.get_mut(&id) {
            stream.end(direction, sink);
        }
        self.forget_if_over(id);
    }

    /// Cuts a message that will not be completed.
    pub(super) fn cut(&mut self, direction: Direction, id: u32, sink: &mut dyn FnMut(Event<'_>)) {
        if let Some(stream) = self.open.get_mut(&id) {
            stream.cut(direction, sink);
        }
        self.forget_if_over(id);
    }

    /// Handles `RST_STREAM`.
    pub(super) fn reset(&mut self, by: Direction, id: u32, code: u32, sink: &mut dyn FnMut(Event<'_>)) {
        self.note_over(id);
        if self.open.remove(&id).is_some() {
            sink(Event::Reset { stream: StreamId(u64::from(id)), by, code });
        }
    }

    /// Cuts all open messages of `direction`, which has ended.
    pub(super) fn cut_all(&mut self, direction: Direction, sink: &mut dyn FnMut(Event<'_>)) {
        for stream in self.open.values_mut() {
            stream.cut(direction, sink);
        }
        self.open.retain(|_id, stream| !stream.is_over());
    }

    /// Stops reporting messages of `direction`, which is no longer observed.
    pub(super) fn lose_all(&mut self, direction: Direction) {
        for stream in self.open.values_mut() {
            stream.lose(direction);
        }
        self.open.retain(|_id, stream| !stream.is_over());
    }

    fn forget_if_over(&mut self, id: u32) {
        if self.open.get(&id).is_some_and(Stream::is_over) {
            self.note_over(id);
            self.open.remove(&id);
        }
    }
}
