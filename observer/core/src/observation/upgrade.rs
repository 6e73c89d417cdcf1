//! The WebSocket that a watch was upgraded to: its messages, and the side that closed it.

use super::vocabulary::{ConnectionEnd, ExchangeEnd};
use crate::http::{Direction, Part, WebSocket};

/// Reads both directions of a watch over WebSocket. The server's messages are the watch. Of the client's frames only Close matters
/// (kubernetes/apiserver `pkg/endpoints/handlers/watch.go` `HandleWS` ignores the rest, too).
#[derive(Debug, Default)]
pub(super) struct WatchSocket {
    client: WebSocket,
    server: WebSocket,
    /// The side that sent the first Close frame, and its status code.
    closed: Option<(Direction, Option<u16>)>,
    /// Whether the server sent a Close frame, perhaps in answer to the client's.
    is_over: bool,
}

impl WatchSocket {
    /// Reads bytes of one direction, and passes on the parts that the server sent.
    pub(super) fn push(&mut self, direction: Direction, bytes: &[u8], server: &mut dyn FnMut(Part<'_>)) {
        let Self { client: from_client, server: from_server, closed, is_over } = self;
        let mut take = |part: Part<'_>| note(closed, is_over, direction, part, server);
        match direction {
            Direction::Request => from_client.push(bytes, &mut take),
            Direction::Response => from_server.push(bytes, &mut take),
        }
    }

    /// Notes a gap in one direction.
    pub(super) fn gap(&mut self, direction: Direction, length: u64, server: &mut dyn FnMut(Part<'_>)) {
        let Self { client: from_client, server: from_server, closed, is_over } = self;
        let mut take = |part: Part<'_>| note(closed, is_over, direction, part, server);
        match direction {
            Direction::Request => from_client.gap(length, &mut take),
            Direction::Response => from_server.gap(length, &mut take),
        }
    }

    /// Whether the server sends no more messages. The connection may stay open for longer.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// How the watch ended, once it is over or its connection has ended. The first Close frame shows which side ended it. Without a Close frame,
    /// `first_end` cut the watch.
    pub(super) fn end(&self, first_end: Option<ConnectionEnd>) -> ExchangeEnd {
        match self.closed {
            Some((Direction::Response, _)) => ExchangeEnd::Complete,
            Some((by @ Direction::Request, code)) => ExchangeEnd::Reset { by, code: code.map_or(NO_STATUS, u32::from) },
            None => ExchangeEnd::Cut(first_end),
        }
    }
}

/// The status code of a Close frame that has none (RFC 6455 §7.4.1).
const NO_STATUS: u32 = 1005;

fn note(
    closed: &mut Option<(Direction, Option<u16>)>,
    is_over: &mut bool,
    direction: Direction,
    part: Part<'_>,
    server: &mut dyn FnMut(Part<'_>),
) {
    if let Part::Close(code) = part {
        closed.get_or_insert((direction, code));
        *is_over |= direction == Direction::Response;
    }
    if direction == Direction::Response {
        server(part);
    }
}
