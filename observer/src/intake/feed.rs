//! A tap's handle on one observed connection.

use observer_core::http::{Direction, FrameWalker, Gap, HeaderFields, Protocol, Span, Start};
use observer_core::observation::Plaintext;
use observer_core::time::Timestamp;

use super::account::Charge;
use super::outbox::Outbox;
use super::{ConnectionInfo, EndManner, TapEvent};

/// Offers the traffic of one connection to the queue, in the order of the calls. It never waits.
///
/// Dropping it closes the connection too, at the time of the last event.
#[derive(Debug)]
pub struct ConnectionFeed {
    outbox: Outbox,
    request: Way,
    response: Way,
    /// Room in the queue for the last events, charged in advance, and released when the observing thread has taken
    /// [`TapEvent::Closed`].
    closing: Option<Charge>,
    /// Room in the queue for the event that the socket to the client has room again. It is charged together with the event that the
    /// socket is full, since an Observer that gets the first must also get the second.
    relaxing: Option<Box<Charge>>,
}

/// The first event of a connection.
#[derive(Debug)]
pub(super) struct Opened {
    pub at: Timestamp,
    pub info: ConnectionInfo,
    pub process_follows: bool,
}

/// One direction of a connection.
#[derive(Debug)]
struct Way {
    direction: Direction,
    /// Follows HTTP/2 frames until the tap itself misses bytes. It continues after `stopped`, to find GOAWAY.
    walker: Option<FrameWalker>,
    /// Whether an HTTP/2 frame header or control frame was dropped, so that nothing after it can be decoded.
    stopped: bool,
    /// Bytes so far, including those that were not queued.
    forwarded: u64,
}

impl ConnectionFeed {
    /// Sends `opened` as the first event. Returns `None` if the receiver is gone.
    pub(super) fn open(mut outbox: Outbox, closing: Charge, opened: Opened) -> Option<Self> {
        let Opened { at, info, process_follows } = opened;
        let framed = info.protocol == Some(Protocol::Http2) && info.start == Start::Beginning;
        let way =
            |direction, walker: fn() -> FrameWalker| Way { direction, walker: framed.then(walker), stopped: false, forwarded: 0 };
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

    /// Offers header fields in plaintext that belong to the header blocks of the next bytes. If the queue has no room for the
    /// fields, those blocks cannot be decoded.
    pub fn fields(&mut self, at: Timestamp, direction: Direction, fields: HeaderFields) {
        if let Some(charge) = self.outbox.room_for(fields.text_length()) {
            self.outbox.event(at, TapEvent::Fields { at, direction, fields }, Some(charge));
        } else {
            self.outbox.count_lossy_read();
        }
    }

    /// Records bytes that the tap itself did not get.
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

    /// Records that the socket to the client has been full since `since`, or has room again (`None`).
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

    /// Records the end of one direction.
    pub fn ended(&mut self, at: Timestamp, direction: Direction, manner: EndManner) {
        self.outbox.event(at, TapEvent::Ended { at, direction, manner }, None);
    }

    /// Records that the tap can no longer observe the connection, which may continue.
    pub fn lost_sight(mut self, at: Timestamp) {
        self.outbox.event(at, TapEvent::NotObserved { at }, None);
        self.close(at);
    }

    /// Records the end of the connection.
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
        let room = if self.stopped { None } else { outbox.room(bytes) };
        match (room, &mut self.walker) {
            (Some(charge), walker) => {
                if let Some(walker) = walker {
                    walker.walk(bytes, |_| {});
                }
                outbox.bytes(at, self.direction, bytes, charge);
            }
            (None, Some(walker)) => {
                outbox.count_lossy_read();
                let mut shedding = Shedding { outbox, at, direction: self.direction, control: Vec::new(), stopped: self.stopped };
                walker.walk(bytes, |span| shedding.span(span));
                self.stopped = shedding.finish();
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

/// One HTTP/2 read for which the queue has no room. DATA payload is dropped. The frame headers and control frames that the decoder
/// needs are charged to the reserve.
struct Shedding<'a> {
    outbox: &'a mut Outbox,
    at: Timestamp,
    direction: Direction,
    /// Frame headers and control frames since the last DATA payload.
    control: Vec<u8>,
    stopped: bool,
}

impl Shedding<'_> {
    fn span(&mut self, span: Span<'_>) {
        match span {
            Span::Control(bytes) => self.control.extend_from_slice(bytes.0),
            Span::Data { stream, bytes } => {
                self.flush_control();
                let stream = Some(stream).filter(|_| !self.stopped);
                self.outbox.gap(self.at, self.direction, Gap { stream, length: bytes.len() as u64 });
            }
        }
    }

    /// Sends the remaining control bytes. Returns whether decoding of the direction stops here.
    fn finish(mut self) -> bool {
        self.flush_control();
        self.stopped
    }

    fn flush_control(&mut self) {
        if self.control.is_empty() {
            return;
        }
        let room = if self.stopped { None } else { self.outbox.reserved_room(&self.control) };
        match room {
            Some(charge) => self.outbox.bytes(self.at, self.direction, &self.control, charge),
            None => self.stop_decoding(),
        }
        self.control.clear();
    }

    fn stop_decoding(&mut self) {
        if !self.stopped {
            self.stopped = true;
            self.outbox.count_stopped_direction();
        }
        self.outbox.gap(self.at, self.direction, unknown(&self.control));
    }
}
