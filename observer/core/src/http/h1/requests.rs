//! Decodes the direction from the client.

use std::mem;
use std::ops::ControlFlow;

use super::body::Body;
use super::body_step::BodyStep;
use super::fault::Fault;
use super::head::{CompleteHead, Head, HeadStep};
use super::input::Input;
use super::pairing::{Method, Pairing, Question, Verdict};
use super::start_line::{RequestLine, Version};
use super::undecided::Undecided;
use crate::http::{Direction, Event, Field, HeaderName, Headers, Loss, RequestHead, Start, StreamId};
use crate::redacted::Redacted;

#[derive(Debug)]
pub(super) struct Requests {
    state: State,
    /// Whether the state is proved to be that of the client.
    proved: bool,
    switching: Switching,
    offset: u64,
    asked: u64,
}

/// State of the client.
///
/// ```text
///             turn                       no Upgrade, no CONNECT, or refused
/// Seeking ◄────────► Head ──► Body ──────────────────────────────────────► Head
///         not a head             │ Upgrade or CONNECT
///                                ▼            101, or 2xx to CONNECT
///                             Undecided ─────────────────────────────────► Opaque
/// ```
///
/// `Stopped` and `Ended` are reached from all states and never left.
#[derive(Debug)]
enum State {
    Seeking,
    Head(Box<Head<RequestLine>>),
    Body(StreamId, Body),
    Undecided(StreamId, Undecided),
    Opaque(StreamId),
    Stopped,
    Ended,
}

/// Whether the current request asks to switch protocols.
#[derive(Clone, Copy, Debug)]
enum Switching {
    No,
    Asked,
    Answered(Verdict),
}

impl Requests {
    /// Decodes from `start` on.
    pub(super) fn new(start: Start) -> Self {
        let (state, proved) = match start {
            Start::Beginning => (State::Head(Box::default()), true),
            Start::Middle => (State::Seeking, false),
        };
        Self { state, proved, switching: Switching::No, offset: 0, asked: 0 }
    }

    /// Notes that the next bytes are the first after the server sent some, so a request may begin.
    pub(super) fn turn(&mut self) {
        match self.state {
            State::Seeking | State::Head(_) if !self.proved => self.state = State::Head(Box::default()),
            State::Seeking
            | State::Head(_)
            | State::Body(..)
            | State::Undecided(..)
            | State::Opaque(_)
            | State::Stopped
            | State::Ended => {}
        }
    }

    /// Decodes the next bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8], pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        let mut input = Input::new(bytes, self.offset);
        while self.step(&mut input, pairing, sink).is_continue() {}
        self.offset = input.offset();
    }

    /// Continues after `length` bytes that were not seen. If that is impossible, reports that decoding stopped, with `loss` as the
    /// reason.
    pub(super) fn miss(&mut self, length: u64, loss: Loss, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        let mut left = length;
        while left > 0 {
            let covered = self.miss_some(left, loss, pairing, sink);
            left = left.saturating_sub(covered);
            self.offset = self.offset.saturating_add(covered);
        }
    }

    /// Notes the end of the direction.
    pub(super) fn end(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        match &mut self.state {
            State::Undecided(_, undecided) => return undecided.end(),
            State::Body(stream, _) => sink(Event::MessageCut { stream: *stream, direction: Direction::Request }),
            State::Seeking | State::Head(_) | State::Opaque(_) | State::Stopped | State::Ended => {}
        }
        self.state = State::Ended;
    }

    /// Takes the answer to a request to switch protocols, if one is awaited.
    pub(super) fn decide(&mut self, verdict: Verdict, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        let Switching::Asked = self.switching else { return };
        self.switching = Switching::Answered(verdict);
        let State::Undecided(stream, undecided) = &mut self.state else { return };
        let (stream, undecided) = (*stream, mem::replace(undecided, Undecided::new()));
        self.follow(stream, pairing, sink);
        self.resume(&undecided, pairing, sink);
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        match &self.state {
            State::Head(head) => head.held(),
            State::Body(_, body) => body.held(),
            State::Undecided(_, undecided) => undecided.bytes().len(),
            State::Seeking | State::Opaque(_) | State::Stopped | State::Ended => 0,
        }
    }

    fn step(&mut self, input: &mut Input<'_>, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) -> ControlFlow<()> {
        match &mut self.state {
            State::Head(head) => match head.step(input) {
                HeadStep::Wait => return ControlFlow::Break(()),
                HeadStep::Done(head) => self.ask(head, pairing, sink),
                HeadStep::Fault(fault) => self.fail(fault, pairing, sink),
            },
            State::Body(stream, body) => match body.step(input) {
                BodyStep::Wait => return ControlFlow::Break(()),
                BodyStep::Data(bytes) => sink(Event::Body { stream: *stream, direction: Direction::Request, bytes }),
                BodyStep::Done => {
                    let stream = *stream;
                    sink(Event::MessageEnd { stream, direction: Direction::Request });
                    self.follow(stream, pairing, sink);
                }
                BodyStep::Fault(fault) => self.fail(fault, pairing, sink),
            },
            State::Undecided(_, undecided) => {
                undecided.hold(input.take(u64::MAX));
                return ControlFlow::Break(());
            }
            State::Opaque(stream) => {
                match input.take(u64::MAX) {
                    [] => {}
                    bytes => sink(Event::Opaque { stream: *stream, direction: Direction::Request, bytes: Redacted(bytes) }),
                }
                return ControlFlow::Break(());
            }
            State::Seeking | State::Stopped | State::Ended => {
                input.take(u64::MAX);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn ask(&mut self, head: CompleteHead<RequestLine>, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        let CompleteHead { start, fields, at } = head;
        let body = fields.framing.of_request(start.version);
        if !self.proved && body.is_err() {
            self.state = State::Seeking;
            return;
        }
        if pairing.is_full() {
            return self.stop_decoding(Loss::Bound, pairing, sink);
        }
        self.proved = true;
        self.asked = self.asked.saturating_add(1);
        let stream = StreamId(self.asked);
        let upgrade = fields.headers.get(HeaderName::Upgrade) != Field::Absent;
        let question = Question { stream, method: Method::of(start.method), upgrade };
        let (method, target) = (Field::Known(start.method.to_owned()), Field::Known(start.target));
        let closes = closes(start.version, &fields.headers);
        let traceparent = fields.traceparent.known();
        let head = RequestHead { method, target, identity: fields.identity, traceparent, headers: fields.headers, closes };
        sink(Event::Request { stream, head });
        self.wait(question, pairing, sink);
        match body {
            Ok(body) => self.state = State::Body(stream, body),
            Err(what) => self.fail(Fault::Malformed { at, what }, pairing, sink),
        }
    }

    fn wait(&mut self, question: Question, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        let verdict = pairing.ask(question);
        if verdict == Some(Verdict::Refused) {
            sink(Event::MessageCut { stream: question.stream, direction: Direction::Response });
        }
        self.switching = match verdict {
            _ if !question.may_switch() => Switching::No,
            None => Switching::Asked,
            Some(verdict) => Switching::Answered(verdict),
        };
    }

    /// Decides how to continue after a complete request.
    fn follow(&mut self, stream: StreamId, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        match self.switching {
            Switching::No | Switching::Answered(Verdict::Refused) => self.state = State::Head(Box::default()),
            Switching::Asked => self.state = State::Undecided(stream, Undecided::new()),
            Switching::Answered(Verdict::Granted) => self.state = State::Opaque(stream),
            Switching::Answered(Verdict::Stopped(loss)) => self.stop_decoding(loss, pairing, sink),
            Switching::Answered(Verdict::Unpaired) => {
                self.proved = false;
                self.state = State::Seeking;
            }
        }
    }

    /// Decodes the held bytes, now that the server's answer is known.
    fn resume(&mut self, undecided: &Undecided, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        self.offset = self.offset.saturating_sub(undecided.length());
        self.bytes(undecided.bytes(), pairing, sink);
        let (missing, loss) = undecided.missing();
        self.miss(missing, loss, pairing, sink);
        if undecided.has_ended() {
            self.end(sink);
        }
    }

    fn miss_some(&mut self, missing: u64, loss: Loss, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) -> u64 {
        match &mut self.state {
            State::Body(stream, body) => {
                let covered = body.skip(missing);
                if covered > 0 {
                    sink(Event::BodyGap { stream: *stream, direction: Direction::Request, length: covered });
                    self.bytes(&[], pairing, sink);
                    return covered;
                }
                self.stop_decoding(loss, pairing, sink);
            }
            State::Head(_) if !self.proved => self.state = State::Seeking,
            State::Head(_) => self.stop_decoding(loss, pairing, sink),
            State::Undecided(_, undecided) => undecided.miss(missing, loss),
            State::Opaque(stream) => sink(Event::OpaqueGap { stream: *stream, direction: Direction::Request, length: missing }),
            State::Seeking | State::Stopped | State::Ended => {}
        }
        missing
    }

    fn fail(&mut self, fault: Fault, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        match fault {
            _ if !self.proved => self.state = State::Seeking,
            Fault::Bound => self.stop_decoding(Loss::Bound, pairing, sink),
            Fault::Malformed { at, what } => {
                sink(Event::Malformed { direction: Direction::Request, at, what });
                self.stop_decoding(Loss::Malformed, pairing, sink);
            }
        }
    }

    fn stop_decoding(&mut self, loss: Loss, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        self.state = State::Stopped;
        pairing.lose_requests(loss);
        sink(Event::DecodingStopped { direction: Direction::Request, loss });
    }
}

/// Whether the connection closes after the response to this request (RFC 9112 §9.3).
fn closes(version: Version, headers: &Headers) -> bool {
    let options = match headers.get(HeaderName::Connection) {
        Field::Known(options) => options,
        Field::Absent | Field::Unknown => "",
    };
    let has = |option: &str| options.split(',').any(|word| word.trim().eq_ignore_ascii_case(option));
    match version {
        Version::Http10 => !has("keep-alive"),
        Version::Http11 => has("close"),
    }
}
