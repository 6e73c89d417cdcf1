//! Decodes both directions of one connection into events.

use super::super::{Direction, Event, Gap, HeaderFields, Loss, Start, StreamId};
use super::flow::Flow;
use super::frame::{FrameHeader, FrameType};
use super::framing::Part;
use super::payload::Piece;
use super::per_direction::{PerDirection, opposite};
use super::side::{Block, Frame, Opens, Side, SideState, Stop};
use super::stream::{ResponseState, StreamError};
use super::streams::Streams;
use crate::redacted::Redacted;

/// The stream identifier that stands for the connection itself (RFC 9113 §6.9).
const CONNECTION: u32 = 0;

/// Decodes an HTTP/2 connection.
///
/// Each message of a stream whose request was reported ends in one of `MessageEnd`, `MessageCut` and `Reset`. There are two
/// exceptions: decoding of its direction stopped before, or its end may have passed before the first proved boundary. A message
/// that breaks a rule of RFC 9113 §8 is cut, with a `Malformed` before it; the rest of the connection continues.
#[derive(Debug)]
pub(in super::super) struct Decoder {
    sides: PerDirection<Side>,
    streams: Streams,
    /// `None` if a part of the connection was not seen, as it may have contained grants and DATA.
    flow: Option<Flow>,
}

impl Decoder {
    pub(in super::super) fn new(start: Start) -> Self {
        let flow = match start {
            Start::Beginning => Some(Flow::new()),
            Start::Middle => None,
        };
        let sides = PerDirection { request: Side::new(Direction::Request, start), response: Side::new(Direction::Response, start) };
        Self { sides, streams: Streams::new(start), flow }
    }

    /// How many bytes of DATA payload `direction` may still send, on `stream` or, for `None`, on the connection. At 0 or below, it
    /// has to wait. `None` if it is unknown, or the stream is not open.
    pub(in super::super) fn send_window(&self, direction: Direction, stream: Option<u32>) -> Option<i64> {
        let flow = self.flow.as_ref()?;
        match stream {
            None => Some(flow.connection(direction)),
            Some(id) => self.streams.get(id).map(|stream| flow.stream(direction, &stream.flow)),
        }
    }

    /// Takes plaintext header fields; the blocks that carry them come next in the same direction. The fields add only the facts
    /// that a block itself leaves unknown.
    pub(in super::super) fn fields(&mut self, direction: Direction, fields: &HeaderFields) {
        if self.streams.start() == Start::Middle && self.side(direction).decoding == SideState::Decoded {
            self.side(direction).announce(fields);
        }
    }

    /// Decodes the next bytes of one direction.
    pub(in super::super) fn bytes(&mut self, direction: Direction, bytes: &[u8], sink: &mut dyn FnMut(Event<'_>)) {
        if !self.side(direction).framing.in_sync() {
            let expected = match direction {
                Direction::Request => self.side(direction).recovery.streams(),
                Direction::Response => self.streams.ids(),
            };
            self.side(direction).framing.expect(expected);
        }
        let mut rest = bytes;
        while self.side(direction).decoding == SideState::Decoded
            && let Some(part) = self.side(direction).framing.next(&mut rest)
        {
            if self.side(direction).framing.take_passed_block() {
                self.side(direction).recovery.end_bytes();
            }
            self.part(direction, part, sink);
        }
        self.side(direction).recovery.end_bytes();
    }

    /// Notes a gap in one direction.
    pub(in super::super) fn gap(&mut self, direction: Direction, gap: Gap, sink: &mut dyn FnMut(Event<'_>)) {
        if self.side(direction).decoding == SideState::Over || gap.length == 0 {
            return;
        }
        self.side(direction).recovery.end_bytes();
        match self.side(direction).framing.skip(gap) {
            Ok(None) => {}
            Ok(Some(piece)) => self.part(direction, Part::Piece(piece), sink),
            Err(_lost) => self.stop_decoding(direction, Stop::Gap, sink),
        }
        self.bytes(direction, &[], sink);
    }

    /// Notes that one direction has ended.
    pub(in super::super) fn end(&mut self, direction: Direction, sink: &mut dyn FnMut(Event<'_>)) {
        if self.side(direction).decoding == SideState::Decoded {
            self.side(direction).close();
            self.streams.cut_all(direction, sink);
        }
    }

    fn side(&mut self, direction: Direction) -> &mut Side {
        self.sides.of_mut(direction)
    }

    fn part(&mut self, direction: Direction, part: Part<'_>, sink: &mut dyn FnMut(Event<'_>)) {
        let outcome = match part {
            Part::Begin(header) => self.begin_frame(direction, &header, sink),
            Part::Piece(piece) => self.piece(direction, piece, sink),
            Part::End => self.end_frame(direction, sink),
            Part::Malformed(what) => Err(Stop::Malformed(what)),
        };
        if let Err(stop) = outcome {
            self.stop_decoding(direction, stop, sink);
        }
    }

    fn begin_frame(&mut self, direction: Direction, header: &FrameHeader, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), Stop> {
        self.side(direction).begin(header)?;
        if header.frame_type == FrameType::Data {
            if let Some(flow) = &mut self.flow {
                flow.sent(direction, header.length);
            }
            if let Some(stream) = self.streams.get_mut(header.stream) {
                stream.flow.sent(direction, header.length);
            }
            self.emit_window(direction, header.stream, sink);
            self.emit_window(direction, CONNECTION, sink);
            if direction == Direction::Response {
                self.streams.adopt(header.stream, sink);
            }
            let outcome = self.streams.data(direction, header.stream, sink);
            self.stream_outcome(direction, header.stream, outcome, sink);
        }
        Ok(())
    }

    fn piece(&mut self, direction: Direction, piece: Piece<'_>, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), Stop> {
        match (&mut self.sides.of_mut(direction).frame, piece) {
            (Frame::Data { stream, .. }, piece) => self.streams.piece(direction, *stream, piece, sink),
            (Frame::Fragment { .. }, piece) => return self.side(direction).fragment(piece),
            (Frame::Settings { record, change }, Piece::Content(Redacted(mut bytes))) => {
                while let Some(setting) = record.take(&mut bytes) {
                    change.add(setting).map_err(Stop::Malformed)?;
                }
            }
            (Frame::RstStream { stream, code }, Piece::Content(Redacted(mut bytes))) => {
                if let Some(code) = code.take(&mut bytes) {
                    self.streams.reset(direction, *stream, u32::from_be_bytes(code), sink);
                }
            }
            (Frame::WindowUpdate { stream, increment }, Piece::Content(Redacted(mut bytes))) => {
                let stream = *stream;
                if let Some(increment) = increment.take(&mut bytes) {
                    let granted = opposite(direction);
                    self.grant(granted, stream, u32::from_be_bytes(increment) & 0x7fff_ffff);
                    self.emit_window(granted, stream, sink);
                }
            }
            (Frame::GoAway(fields), Piece::Content(Redacted(mut bytes))) => {
                if let Some([a, b, c, d, code @ ..]) = fields.take(&mut bytes) {
                    self.side(direction).frame = Frame::Skipped;
                    let last_stream = u32::from_be_bytes([a, b, c, d]) & 0x7fff_ffff;
                    sink(Event::GoAway { by: direction, last_stream, code: u32::from_be_bytes(code) });
                }
            }
            (Frame::Skipped | Frame::SettingsAck, _) | (_, Piece::Missing(_)) => {}
        }
        Ok(())
    }

    fn end_frame(&mut self, direction: Direction, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), Stop> {
        match &self.side(direction).frame {
            Frame::Data { stream, end_stream: true } => {
                let stream = *stream;
                self.streams.end(direction, stream, sink);
            }
            Frame::Fragment { end_headers: true } => {
                if let Some(block) = self.side(direction).take_block()? {
                    return self.block(direction, block, sink);
                }
            }
            Frame::Settings { change, .. } => {
                let change = *change;
                let bound = opposite(direction);
                let overdue = self.side(bound).settings.announce(change);
                self.follow_settings(bound, overdue.and_then(|change| change.initial_window), sink);
            }
            Frame::SettingsAck => {
                let change = self.side(direction).settings.acknowledge();
                self.follow_settings(direction, change.and_then(|change| change.initial_window), sink);
            }
            Frame::Data { end_stream: false, .. }
            | Frame::Fragment { end_headers: false }
            | Frame::RstStream { .. }
            | Frame::WindowUpdate { .. }
            | Frame::GoAway(_)
            | Frame::Skipped => {}
        }
        Ok(())
    }

    /// Handles a complete header block.
    fn block(&mut self, direction: Direction, block: Block, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), Stop> {
        let Block { stream, opens, fields, .. } = block;
        let end_stream = match opens {
            Opens::Headers { end_stream } => end_stream,
            Opens::Promise => return Ok(()),
        };
        if direction == Direction::Request {
            let begins = self.streams.begins_request(stream, &fields);
            self.streams.note_request_block(stream);
            if begins {
                let response = self.response_of_new_stream();
                self.streams.open(stream, fields, response, sink).map_err(|_full| Stop::Bound)?;
                if end_stream {
                    self.streams.end(direction, stream, sink);
                }
                return Ok(());
            }
        } else {
            self.streams.adopt(stream, sink);
        }
        let outcome = self.streams.block(direction, stream, fields, end_stream, sink);
        self.stream_outcome(direction, stream, outcome, sink);
        Ok(())
    }

    fn response_of_new_stream(&self) -> ResponseState {
        match self.sides.response.decoding {
            SideState::Over => ResponseState::Over,
            SideState::Decoded if self.sides.response.framing.in_sync() => ResponseState::Awaited,
            SideState::Decoded => ResponseState::PerhapsBegun,
        }
    }

    fn stream_outcome(
        &mut self,
        direction: Direction,
        stream: u32,
        outcome: Result<(), StreamError>,
        sink: &mut dyn FnMut(Event<'_>),
    ) {
        if let Err(StreamError(what)) = outcome {
            sink(Event::Malformed { direction, at: self.side(direction).framing.frame_start(), what });
            self.streams.cut(direction, stream, sink);
        }
    }

    fn grant(&mut self, direction: Direction, stream: u32, increment: u32) {
        if let Some(stream) = self.streams.get_mut(stream) {
            stream.flow.granted(direction, increment);
        } else if let Some(flow) = &mut self.flow
            && stream == CONNECTION
        {
            flow.granted(direction, increment);
        }
    }

    fn follow_settings(&mut self, direction: Direction, initial_window: Option<u32>, sink: &mut dyn FnMut(Event<'_>)) {
        self.side(direction).follow_settings();
        if let (Some(flow), Some(window)) = (&mut self.flow, initial_window) {
            flow.set_initial(direction, window);
            for id in self.streams.ids() {
                self.emit_window(direction, id, sink);
            }
        }
    }

    /// Reports the window of a stream, or of the connection, if it has been used up or has room again.
    fn emit_window(&mut self, direction: Direction, stream: u32, sink: &mut dyn FnMut(Event<'_>)) {
        let Some(flow) = &mut self.flow else { return };
        let change = if stream == CONNECTION {
            flow.connection_change(direction)
        } else {
            self.streams.get_mut(stream).and_then(|stream| flow.stream_change(direction, &mut stream.flow))
        };
        if let Some(used_up) = change {
            let stream = (stream != CONNECTION).then(|| StreamId(u64::from(stream)));
            sink(Event::Window { stream, direction, used_up });
        }
    }

    /// Discards all windows, and reports those that were used up as having room.
    fn forget_windows(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        let Some(flow) = self.flow.take() else { return };
        for direction in [Direction::Request, Direction::Response] {
            let of_streams = self
                .streams
                .ids()
                .into_iter()
                .filter(|id| self.streams.get(*id).is_some_and(|stream| stream.flow.is_reported(direction)));
            let streams = of_streams.map(|id| Some(StreamId(u64::from(id))));
            for stream in streams.chain(flow.is_reported(direction).then_some(None)) {
                sink(Event::Window { stream, direction, used_up: false });
            }
        }
    }

    fn stop_decoding(&mut self, direction: Direction, stop: Stop, sink: &mut dyn FnMut(Event<'_>)) {
        let loss = match stop {
            Stop::Malformed(what) => {
                sink(Event::Malformed { direction, at: self.side(direction).framing.frame_start(), what });
                Loss::Malformed
            }
            Stop::Bound => Loss::Bound,
            Stop::Gap => Loss::Gap,
        };
        self.side(direction).close();
        self.forget_windows(sink);
        self.streams.lose_all(direction);
        sink(Event::DecodingStopped { direction, loss });
    }
}
