//! Decodes the direction from the server.

use std::ops::ControlFlow;

use super::body::Body;
use super::body_step::BodyStep;
use super::fault::Fault;
use super::head::{CompleteHead, Head, HeadStep};
use super::input::Input;
use super::pairing::{Method, Pairing, Question, Verdict};
use super::start_line::StatusLine;
use crate::http::{Direction, Event, Field, HeaderName, Headers, Loss, ResponseHead, Start, StreamId};
use crate::redacted::Redacted;

/// Longest `Upgrade` token that is kept, in bytes.
const MAX_PROTOCOL: usize = 32;

#[derive(Debug)]
pub(super) struct Responses {
    state: State,
    /// Whether the state is proved to be that of the server.
    proved: bool,
    offset: u64,
}

/// State of the server.
///
/// ```text
///             turn                 final
/// Seeking ◄────────► Head ────────────────► Body ──► Head
///         not a head  ▲ │ 101, or 2xx to CONNECT
///                     └─┤
///                  1xx  └─────────────────► Opaque
/// ```
///
/// `Stopped` and `Ended` are reached from all states and never left.
#[derive(Debug)]
enum State {
    Seeking,
    Head(Box<Head<StatusLine>>),
    Body(StreamId, Body),
    Opaque(StreamId),
    Stopped,
    Ended,
}

impl Responses {
    /// Decodes from `start` on.
    pub(super) fn new(start: Start) -> Self {
        let (state, proved) = match start {
            Start::Beginning => (State::Head(Box::default()), true),
            Start::Middle => (State::Seeking, false),
        };
        Self { state, proved, offset: 0 }
    }

    /// Notes that the next bytes are the first after the client sent some, so the response to its only request may begin.
    pub(super) fn turn(&mut self, pairing: &mut Pairing) {
        match self.state {
            State::Seeking | State::Head(_) if !self.proved => {
                if pairing.len() == 1 {
                    self.state = State::Head(Box::default());
                } else {
                    self.seek(pairing);
                }
            }
            State::Seeking | State::Head(_) | State::Body(..) | State::Opaque(_) | State::Stopped | State::Ended => {}
        }
    }

    /// Notes that the client sends again. If the server's bytes since the last turn are not a complete head by now, they belong to
    /// an earlier response.
    pub(super) fn interrupt(&mut self, pairing: &mut Pairing) {
        match &self.state {
            State::Head(head) if !self.proved && !head.is_fresh() => self.seek(pairing),
            State::Seeking | State::Head(_) | State::Body(..) | State::Opaque(_) | State::Stopped | State::Ended => {}
        }
    }

    /// The bytes of one call, to be passed to [`Responses::step`] until it returns `Break`.
    pub(super) fn input<'a>(&self, bytes: &'a [u8]) -> Input<'a> {
        Input::new(bytes, self.offset)
    }

    /// Decodes up to the next decision.
    pub(super) fn step(
        &mut self,
        input: &mut Input<'_>,
        pairing: &mut Pairing,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> ControlFlow<()> {
        let flow = self.step_in_state(input, pairing, sink);
        self.offset = input.offset();
        flow
    }

    /// Skips at least one of `missing` bytes that were not seen, and returns how many it skipped.
    pub(super) fn miss_some(&mut self, missing: u64, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) -> u64 {
        let covered = match &mut self.state {
            State::Body(stream, body) => {
                let covered = body.skip(missing);
                if covered > 0 {
                    sink(Event::BodyGap { stream: *stream, direction: Direction::Response, length: covered });
                    covered
                } else {
                    self.stop_decoding(Loss::Gap, pairing, sink);
                    missing
                }
            }
            State::Head(_) if !self.proved => {
                self.seek(pairing);
                missing
            }
            State::Head(_) => {
                self.stop_decoding(Loss::Gap, pairing, sink);
                missing
            }
            State::Opaque(stream) => {
                sink(Event::OpaqueGap { stream: *stream, direction: Direction::Response, length: missing });
                missing
            }
            State::Seeking | State::Stopped | State::Ended => missing,
        };
        self.offset = self.offset.saturating_add(covered);
        covered
    }

    /// Notes the end of the direction. It completes a body that is framed by it, and cuts the responses of all waiting requests.
    pub(super) fn end(&mut self, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        let direction = Direction::Response;
        match &self.state {
            State::Stopped | State::Ended => return,
            State::Body(stream, body) if body.ends_with_connection() => sink(Event::MessageEnd { stream: *stream, direction }),
            State::Body(stream, _) => sink(Event::MessageCut { stream: *stream, direction }),
            State::Opaque(stream) => sink(Event::MessageEnd { stream: *stream, direction }),
            State::Seeking | State::Head(_) => {}
        }
        self.state = State::Ended;
        for question in pairing.end_responses() {
            sink(Event::MessageCut { stream: question.stream, direction });
        }
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        match &self.state {
            State::Head(head) => head.held(),
            State::Body(_, body) => body.held(),
            State::Seeking | State::Opaque(_) | State::Stopped | State::Ended => 0,
        }
    }

    fn step_in_state(&mut self, input: &mut Input<'_>, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) -> ControlFlow<()> {
        match &mut self.state {
            State::Head(head) if head.is_fresh() && !input.is_empty() && pairing.len() == 0 => {
                self.refuse_unasked(input.offset(), pairing, sink);
            }
            State::Head(head) => match head.step(input) {
                HeadStep::Wait => return ControlFlow::Break(()),
                HeadStep::Done(head) => self.answer(head, pairing, sink),
                HeadStep::Fault(fault) => self.fail(fault, pairing, sink),
            },
            State::Body(stream, body) => match body.step(input) {
                BodyStep::Wait => return ControlFlow::Break(()),
                BodyStep::Data(bytes) => sink(Event::Body { stream: *stream, direction: Direction::Response, bytes }),
                BodyStep::Done => {
                    sink(Event::MessageEnd { stream: *stream, direction: Direction::Response });
                    self.state = State::Head(Box::default());
                }
                BodyStep::Fault(fault) => self.fail(fault, pairing, sink),
            },
            State::Opaque(stream) => {
                match input.take(u64::MAX) {
                    [] => {}
                    bytes => sink(Event::Opaque { stream: *stream, direction: Direction::Response, bytes: Redacted(bytes) }),
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

    /// Handles a response for which no decoded request waits.
    fn refuse_unasked(&mut self, at: u64, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        match pairing.requests_lost() {
            Some(loss) => self.stop_decoding(loss, pairing, sink),
            None => self.fail(Fault::Malformed { at, what: "response without a request" }, pairing, sink),
        }
    }

    fn answer(&mut self, head: CompleteHead<StatusLine>, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        let Some(question) = pairing.first() else { return self.refuse_unasked(head.at, pairing, sink) };
        let stream = question.stream;
        match head.start.status {
            101 if !question.upgrade => {
                self.fail(Fault::Malformed { at: head.at, what: "101 to a request without upgrade" }, pairing, sink);
            }
            101 => {
                let protocol = upgrade_token(&head.fields.headers);
                sink(Event::Response { stream, head: response_head(head) });
                self.switch(question, protocol, pairing, sink);
            }
            status @ 100..=199 => {
                self.proved = true;
                sink(Event::Informational { stream, status });
            }
            200..=299 if question.method == Method::Connect => {
                sink(Event::Response { stream, head: response_head(head) });
                self.switch(question, String::new(), pairing, sink);
            }
            _ => self.answer_finally(question, head, pairing, sink),
        }
    }

    fn answer_finally(
        &mut self,
        question: Question,
        head: CompleteHead<StatusLine>,
        pairing: &mut Pairing,
        sink: &mut dyn FnMut(Event<'_>),
    ) {
        let (stream, at) = (question.stream, head.at);
        let body = head.fields.framing.of_response(head.start.version, head.start.status, question.method);
        if !self.proved && body.is_err() {
            return self.seek(pairing);
        }
        self.proved = true;
        pairing.answer(question, Verdict::Refused);
        sink(Event::Response { stream, head: response_head(head) });
        match body {
            Ok(body) => self.state = State::Body(stream, body),
            Err(what) => self.fail(Fault::Malformed { at, what }, pairing, sink),
        }
    }

    fn switch(&mut self, question: Question, protocol: String, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        self.proved = true;
        self.state = State::Opaque(question.stream);
        pairing.answer(question, Verdict::Granted);
        sink(Event::Upgraded { stream: question.stream, protocol });
    }

    fn fail(&mut self, fault: Fault, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        match fault {
            _ if !self.proved => self.seek(pairing),
            Fault::Bound => self.stop_decoding(Loss::Bound, pairing, sink),
            Fault::Malformed { at, what } => {
                sink(Event::Malformed { direction: Direction::Response, at, what });
                self.stop_decoding(Loss::Malformed, pairing, sink);
            }
        }
    }

    /// Skips a response whose request was not seen: the response to the waiting request follows it at an unknown place.
    fn seek(&mut self, pairing: &mut Pairing) {
        self.state = State::Seeking;
        pairing.unpair();
    }

    fn stop_decoding(&mut self, loss: Loss, pairing: &mut Pairing, sink: &mut dyn FnMut(Event<'_>)) {
        self.state = State::Stopped;
        pairing.lose_responses(loss);
        sink(Event::DecodingStopped { direction: Direction::Response, loss });
    }
}

fn response_head(head: CompleteHead<StatusLine>) -> ResponseHead {
    ResponseHead { status: Field::Known(head.start.status), headers: head.fields.headers }
}

fn upgrade_token(headers: &Headers) -> String {
    let token = headers.get(HeaderName::Upgrade).known().unwrap_or_default();
    token.chars().take(MAX_PROTOCOL).map(|c| c.to_ascii_lowercase()).collect()
}
