//! A tap's handle on one observed connection.

use observer_core::http::{Direction, FrameWalker, Gap, HeaderFields, Protocol, Span, Start};
use observer_core::observation::Plaintext;
use observer_core::time::Timestamp;

use super::account::Charge;
use super::outbox::Outbox;
use super::{ConnectionInfo, EndManner, TapEvent};

/// Offers what one connection carries, in the order in which it is called; never waits.
///
/// Dropped without [`Self::closed`] it closes the connection all the same.
#[derive(Debug)]
pub struct ConnectionFeed {
    outbox: Outbox,
    request: Way,
    response: Way,
    /// Pays for the ends until the last of them is taken.
    closing: Option<Charge>,
    /// Pays for the news that the client reads again: who was told the one must be told the other.
    relaxing: Option<Box<Charge>>,
}

/// A connection that opens.
#[derive(Debug)]
pub(super) struct Opened {
    pub at: Timestamp,
    pub info: ConnectionInfo,
    pub process_follows: bool,
}

/// One direction.
#[derive(Debug)]
struct Way {
    direction: Direction,
    /// Follows the frames of HTTP/2 from the first byte to the first that the tap itself missed; it goes on when the direction is dark, since GOAWAY matters all the same.
    walker: Option<FrameWalker>,
    /// A frame header or control frame of HTTP/2 is missing: nothing after it can be understood.
    dark: bool,
    /// Bytes so far, those that were not sent among them.
    forwarded: u64,
}

impl ConnectionFeed {
    /// Opens the connection of `outbox` with `opened`; nothing when nobody receives any more.
    pub(super) fn open(mut outbox: Outbox, closing: Charge, opened: Opened) -> Option<Self> {
        let Opened { at, info, process_follows } = opened;
        let framed = info.protocol == Some(Protocol::Http2) && info.start == Start::Beginning;
        let way =
            |direction, walker: fn() -> FrameWalker| Way { direction, walker: framed.then(walker), dark: false, forwarded: 0 };
        let request = way(Direction::Request, FrameWalker::of_requests);
        let response = way(Direction::Response, FrameWalker::of_responses);
        outbox.event(at, TapEvent::Opened { at, info, process_follows }, None).then_some(Self {
            outbox,
            request,
            response,
            closing: Some(closing),
            relaxing: None,
        })
    }

    /// Offers the next bytes of one direction.
    pub fn bytes(&mut self, at: Timestamp, direction: Direction, bytes: &[u8]) {
        match direction {
            Direction::Request => self.request.offer(&mut self.outbox, at, bytes),
            Direction::Response => self.response.offer(&mut self.outbox, at, bytes),
        }
    }

    /// Offers header fields in plaintext that the next bytes of one direction have in their header blocks. Where there is no room for them, those
    /// blocks stay as unknown as they are.
    pub fn fields(&mut self, at: Timestamp, direction: Direction, fields: HeaderFields) {
        if let Some(charge) = self.outbox.room_for(fields.text_length()) {
            self.outbox.event(at, TapEvent::Fields { at, direction, fields }, Some(charge));
        } else {
            self.outbox.count_lossy_read();
        }
    }

    /// Notes bytes that the tap itself did not get.
    pub fn missed(&mut self, at: Timestamp, direction: Direction, bytes: u64) {
        match direction {
            Direction::Request => self.request.miss(&mut self.outbox, at, bytes),
            Direction::Response => self.response.miss(&mut self.outbox, at, bytes),
        }
    }

    /// Whether the server has announced with GOAWAY that it takes no more requests.
    pub fn saw_goaway(&self) -> bool {
        self.response.walker.as_ref().is_some_and(FrameWalker::saw_goaway)
    }

    /// Notes that the client's socket takes nothing more since then, or that it does again.
    pub fn client_blocked(&mut self, at: Timestamp, since: Option<Timestamp>) {
        let paid = match since {
            Some(_) => self.outbox.reserved_room(&[]).zip(self.outbox.reserved_room(&[])).map(|(now, later)| {
                self.relaxing = Some(Box::new(later));
                now
            }),
            None => self.relaxing.take().map(|paid| *paid),
        };
        if paid.is_some() {
            self.outbox.event(at, TapEvent::ClientBlocked { at, since }, paid);
        }
    }

    /// Notes the end of one direction.
    pub fn ended(&mut self, at: Timestamp, direction: Direction, manner: EndManner) {
        self.outbox.event(at, TapEvent::Ended { at, direction, manner }, None);
    }

    /// Notes that the tap sees no more of the connection, which may go on.
    pub fn lost_sight(mut self, at: Timestamp) {
        self.outbox.event(at, TapEvent::OutOfSight { at }, None);
        self.close(at);
    }

    /// Notes that the connection is over.
    pub fn closed(mut self, at: Timestamp) {
        self.close(at);
    }

    fn close(&mut self, at: Timestamp) {
        if let Some(charge) = self.closing.take() {
            let forwarded = Plaintext { request: self.request.forwarded, response: self.response.forwarded };
            self.outbox.event(at, TapEvent::Closed { at, forwarded }, Some(charge));
        }
    }
}

impl Drop for ConnectionFeed {
    fn drop(&mut self) {
        self.close(self.outbox.last());
    }
}

impl Way {
    fn offer(&mut self, outbox: &mut Outbox, at: Timestamp, bytes: &[u8]) {
        self.forwarded += bytes.len() as u64;
        let room = if self.dark { None } else { outbox.room(bytes) };
        match (room, &mut self.walker) {
            (Some(charge), walker) => {
                if let Some(walker) = walker {
                    walker.walk(bytes, |_| {});
                }
                outbox.bytes(at, self.direction, bytes, charge);
            }
            (None, Some(walker)) => {
                outbox.count_lossy_read();
                let mut shedding = Shedding { outbox, at, direction: self.direction, control: Vec::new(), dark: self.dark };
                walker.walk(bytes, |span| shedding.span(span));
                self.dark = shedding.finish();
            }
            (None, None) => {
                outbox.count_lossy_read();
                outbox.gap(at, self.direction, unknown(bytes));
            }
        }
    }

    fn miss(&mut self, outbox: &mut Outbox, at: Timestamp, bytes: u64) {
        self.forwarded += bytes;
        self.walker = None;
        outbox.count_lossy_read();
        outbox.gap(at, self.direction, Gap { stream: None, length: bytes });
    }
}

fn unknown(bytes: &[u8]) -> Gap {
    Gap { stream: None, length: bytes.len() as u64 }
}

/// One read of HTTP/2 for which there is no room: DATA payload goes, what the decoder cannot do without is sent on the reserve.
struct Shedding<'a> {
    outbox: &'a mut Outbox,
    at: Timestamp,
    direction: Direction,
    /// Control bytes since the last payload.
    control: Vec<u8>,
    dark: bool,
}

impl Shedding<'_> {
    fn span(&mut self, span: Span<'_>) {
        match span {
            Span::Control(bytes) => self.control.extend_from_slice(bytes.0),
            Span::Data { stream, bytes } => {
                self.flush_control();
                let stream = Some(stream).filter(|_| !self.dark);
                self.outbox.gap(self.at, self.direction, Gap { stream, length: bytes.len() as u64 });
            }
        }
    }

    /// Sends the rest; true when the direction is dark from here on.
    fn finish(mut self) -> bool {
        self.flush_control();
        self.dark
    }

    fn flush_control(&mut self) {
        if self.control.is_empty() {
            return;
        }
        let room = if self.dark { None } else { self.outbox.reserved_room(&self.control) };
        match room {
            Some(charge) => self.outbox.bytes(self.at, self.direction, &self.control, charge),
            None => self.go_dark(),
        }
        self.control.clear();
    }

    fn go_dark(&mut self) {
        if !self.dark {
            self.dark = true;
            self.outbox.count_dark_direction();
        }
        self.outbox.gap(self.at, self.direction, unknown(&self.control));
    }
}
