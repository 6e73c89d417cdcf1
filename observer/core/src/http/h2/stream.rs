//! One stream: a request and its response (RFC 9113 §8.1).

use std::mem;

use super::super::{Direction, Event, ResponseHead, StreamId};
use super::flow::StreamFlow;
use super::head::{Fields, StatusField, unknown_response};

/// The rule that a message breaks, for which an endpoint resets the stream (RFC 9113 §5.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamError(pub(super) &'static str);

/// A stream whose request head was seen.
#[derive(Debug)]
pub(super) struct Stream {
    id: StreamId,
    request: RequestState,
    response: ResponseState,
    tunnel: Tunnel,
    pub(super) flow: StreamFlow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestState {
    /// A body or trailers may come.
    Open,
    Over,
}

/// State of the response, with the frames that change it.
///
/// ```text
///            ┌─ 1xx ─┐                   DATA, or trailers: it was final
///            ▼       │  :status unknown ──► Undecided ─────┐
///         Awaited ───┴─────── final ───────────────────────▼
///            ▲ :status known                              Open ──► Over
///       PerhapsBegun ───────── DATA ────────────────────► Missed ──► Over
/// ```
#[derive(Debug)]
pub(super) enum ResponseState {
    /// Its final head is still to come.
    Awaited,
    /// Frame boundaries in this direction are not found yet (decoding began in the middle), so its head may have passed unseen.
    PerhapsBegun,
    /// A head has come, but its status is unknown, so it may be interim or final.
    Undecided(Box<ResponseHead>),
    /// A body or trailers may come.
    Open,
    /// As `Open`, but its head has passed unseen: only its end is reported.
    Missed,
    /// Ended, cut, or no longer observed.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tunnel {
    /// The method is not CONNECT.
    None,
    /// The method is CONNECT, and the response will decide.
    Requested,
    /// DATA belongs to the tunnel, or may belong to it.
    Open,
}

/// The meaning of DATA in one direction of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carries {
    Body,
    Tunnel,
    /// Nothing to report: the message is over, or its head was missed.
    Nothing,
}

impl Stream {
    pub(super) fn new(id: StreamId, response: ResponseState, connect: bool) -> Self {
        let tunnel = if connect { Tunnel::Requested } else { Tunnel::None };
        Self { id, request: RequestState::Open, response, tunnel, flow: StreamFlow::default() }
    }

    /// A stream from before decoding began. Its request is not reported further, and the head of its response may have passed.
    pub(super) fn former(id: StreamId) -> Self {
        let response = ResponseState::Undecided(Box::new(unknown_response()));
        Self { id, request: RequestState::Over, response, tunnel: Tunnel::None, flow: StreamFlow::default() }
    }

    /// Whether both messages are over.
    pub(super) fn is_over(&self) -> bool {
        self.is_message_over(Direction::Request) && self.is_message_over(Direction::Response)
    }

    /// The meaning of DATA in `direction`.
    pub(super) fn carries(&self, direction: Direction) -> Carries {
        let open = match direction {
            Direction::Request => self.request == RequestState::Open,
            Direction::Response => matches!(self.response, ResponseState::Open),
        };
        match self.tunnel {
            _ if !open => Carries::Nothing,
            Tunnel::Open => Carries::Tunnel,
            Tunnel::None | Tunnel::Requested => Carries::Body,
        }
    }

    /// Handles a header block after that of the request.
    pub(super) fn request_trailers(&mut self, end_stream: bool, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), StreamError> {
        match self.request {
            RequestState::Over => Ok(()),
            RequestState::Open => self.trailers(Direction::Request, end_stream, sink),
        }
    }

    /// Handles a header block in the direction of responses.
    pub(super) fn response_block(
        &mut self,
        fields: Fields,
        end_stream: bool,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), StreamError> {
        let status = fields.status();
        match (&self.response, status) {
            (ResponseState::Over, _) => Ok(()),
            (ResponseState::Open | ResponseState::Missed, StatusField::Known(_)) => Err(StreamError("second final response")),
            (ResponseState::Open | ResponseState::Missed | ResponseState::PerhapsBegun, StatusField::Absent)
            | (ResponseState::Open | ResponseState::Missed, StatusField::Unknown) => {
                self.trailers(Direction::Response, end_stream, sink)
            }
            (ResponseState::Awaited, StatusField::Absent) => Err(StreamError("response without :status")),
            (ResponseState::Undecided(_), StatusField::Absent) => {
                self.decide_final(sink);
                self.trailers(Direction::Response, end_stream, sink)
            }
            (ResponseState::Awaited | ResponseState::PerhapsBegun | ResponseState::Undecided(_), StatusField::Known(code)) => {
                self.response_head(code, fields, end_stream, sink)
            }
            (ResponseState::Awaited | ResponseState::PerhapsBegun | ResponseState::Undecided(_), StatusField::Unknown) => {
                self.response_of_unknown_status(fields, end_stream, sink);
                Ok(())
            }
        }
    }

    /// Handles the beginning of a DATA frame.
    pub(super) fn data(&mut self, direction: Direction, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), StreamError> {
        match (direction, &self.response) {
            (Direction::Response, ResponseState::Awaited) => return Err(StreamError("DATA before the head of the response")),
            (Direction::Response, ResponseState::PerhapsBegun) => self.response = ResponseState::Missed,
            (Direction::Response, ResponseState::Undecided(_)) => self.decide_final(sink),
            (Direction::Response, ResponseState::Open | ResponseState::Missed | ResponseState::Over) | (Direction::Request, _) => {}
        }
        Ok(())
    }

    /// Handles `END_STREAM`.
    pub(super) fn end(&mut self, direction: Direction, sink: &mut dyn FnMut(Event<'_>)) {
        if !self.is_message_over(direction) {
            sink(Event::MessageEnd { stream: self.id, direction });
            self.lose(direction);
        }
    }

    /// Cuts a message that will not be completed, unless it was completed unseen.
    pub(super) fn cut(&mut self, direction: Direction, sink: &mut dyn FnMut(Event<'_>)) {
        let perhaps_complete = direction == Direction::Response && matches!(self.response, ResponseState::PerhapsBegun);
        if !self.is_message_over(direction) && !perhaps_complete {
            sink(Event::MessageCut { stream: self.id, direction });
        }
        self.lose(direction);
    }

    /// Stops reporting the message.
    pub(super) fn lose(&mut self, direction: Direction) {
        match direction {
            Direction::Request => self.request = RequestState::Over,
            Direction::Response => self.response = ResponseState::Over,
        }
    }

    fn is_message_over(&self, direction: Direction) -> bool {
        match direction {
            Direction::Request => self.request == RequestState::Over,
            Direction::Response => matches!(self.response, ResponseState::Over),
        }
    }

    fn trailers(&mut self, direction: Direction, end_stream: bool, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), StreamError> {
        if !end_stream {
            return Err(StreamError("trailers without END_STREAM"));
        }
        self.end(direction, sink);
        Ok(())
    }

    fn response_head(
        &mut self,
        status: u16,
        fields: Fields,
        end_stream: bool,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), StreamError> {
        match status {
            101 => return Err(StreamError("101 on HTTP/2")),
            ..200 if end_stream => return Err(StreamError("interim response with END_STREAM")),
            ..200 => {
                self.response = ResponseState::Awaited;
                sink(Event::Informational { stream: self.id, status });
            }
            200.. => {
                self.final_head(fields.into_response(), sink);
                if self.tunnel == Tunnel::Requested && status < 300 {
                    self.tunnel = Tunnel::Open;
                    sink(Event::Upgraded { stream: self.id, protocol: String::new() });
                }
                if end_stream {
                    self.end(Direction::Response, sink);
                }
            }
        }
        Ok(())
    }

    /// Interim responses, and heads before trailers, have no `END_STREAM`, which distinguishes some of the cases.
    fn response_of_unknown_status(&mut self, fields: Fields, end_stream: bool, sink: &mut dyn FnMut(Event<'_>)) {
        match (&self.response, end_stream) {
            (ResponseState::PerhapsBegun, true) => self.end(Direction::Response, sink),
            (ResponseState::Undecided(_), true) => {
                // Either an interim response and now the final one, or the final one and now its trailers.
                self.final_head(unknown_response(), sink);
                self.end(Direction::Response, sink);
            }
            (_, true) => {
                self.final_head(fields.into_response(), sink);
                self.end(Direction::Response, sink);
            }
            (ResponseState::PerhapsBegun, false) => {}
            (_, false) => self.response = ResponseState::Undecided(Box::new(fields.into_response())),
        }
    }

    /// Reports the undecided head as final, which the next frame has proved.
    fn decide_final(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        if let ResponseState::Undecided(head) = mem::replace(&mut self.response, ResponseState::Open) {
            self.final_head(*head, sink);
            if self.tunnel == Tunnel::Requested {
                // Success is not certain, so the next bytes may belong to the tunnel.
                self.tunnel = Tunnel::Open;
            }
        }
    }

    fn final_head(&mut self, head: ResponseHead, sink: &mut dyn FnMut(Event<'_>)) {
        self.response = ResponseState::Open;
        sink(Event::Response { stream: self.id, head });
    }
}
