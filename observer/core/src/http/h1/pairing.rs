//! Which response belongs to which request: what passes between the two directions.

use std::collections::VecDeque;

use crate::http::{Loss, StreamId};

/// Most requests that may wait for their response.
pub(super) const MAX_UNANSWERED: usize = 1024;

/// The requests without a final response, oldest first (RFC 9112 §9.3.2), and what one direction knows of the other.
#[derive(Debug)]
pub(super) struct Pairing {
    unanswered: VecDeque<Question>,
    requests_lost: Option<Loss>,
    responses: Responding,
    verdict: Option<Verdict>,
}

/// What of a request decides how its response is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    /// Which exchange.
    pub(super) stream: StreamId,
    /// Its method.
    pub(super) method: Method,
    /// Whether it carries `Upgrade`.
    pub(super) upgrade: bool,
}

/// A method that changes how a response is framed, or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// The response has no body.
    Head,
    /// A successful response starts a tunnel.
    Connect,
    /// All the rest.
    Other,
}

/// What became of a request to speak something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The connection is not HTTP any more.
    Granted,
    /// It is.
    Refused,
    /// The responses are not decoded any more.
    Dark(Loss),
    /// The response cannot be told from others.
    Unpaired,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Responding {
    Decoded,
    Dark(Loss),
    Ended,
}

impl Method {
    /// Reads a method token; methods are case-sensitive.
    pub(super) fn of(token: &str) -> Self {
        match token {
            "HEAD" => Self::Head,
            "CONNECT" => Self::Connect,
            _ => Self::Other,
        }
    }
}

impl Question {
    /// Whether what follows the request may be something other than HTTP.
    pub(super) fn may_switch(self) -> bool {
        self.upgrade || self.method == Method::Connect
    }
}

impl Pairing {
    /// Nothing asked yet.
    pub(super) fn new() -> Self {
        Self { unanswered: VecDeque::new(), requests_lost: None, responses: Responding::Decoded, verdict: None }
    }

    /// How many requests wait.
    pub(super) fn len(&self) -> usize {
        self.unanswered.len()
    }

    /// Whether no more request may wait.
    pub(super) fn is_full(&self) -> bool {
        self.len() >= MAX_UNANSWERED
    }

    /// Whose response comes next.
    pub(super) fn first(&self) -> Option<Question> {
        self.unanswered.front().copied()
    }

    /// Why requests may have passed unseen.
    pub(super) fn requests_lost(&self) -> Option<Loss> {
        self.requests_lost
    }

    /// Adds a request, unless it is certain that its response will not be seen: then that is the answer.
    pub(super) fn ask(&mut self, question: Question) -> Option<Verdict> {
        match self.responses {
            Responding::Decoded => {
                self.unanswered.push_back(question);
                None
            }
            Responding::Dark(loss) => Some(Verdict::Dark(loss)),
            Responding::Ended => Some(Verdict::Refused),
        }
    }

    /// The oldest request has its final response.
    pub(super) fn answer(&mut self, question: Question, verdict: Verdict) {
        self.unanswered.pop_front();
        if question.may_switch() {
            self.verdict = Some(verdict);
        }
    }

    /// No waiting request can be told which response is its own.
    pub(super) fn unpair(&mut self) {
        self.unanswered = VecDeque::new();
        self.verdict = Some(Verdict::Unpaired);
    }

    /// Requests are not decoded any more.
    pub(super) fn lose_requests(&mut self, loss: Loss) {
        self.requests_lost = Some(loss);
    }

    /// Responses are not decoded any more.
    pub(super) fn lose_responses(&mut self, loss: Loss) {
        self.unanswered = VecDeque::new();
        self.responses = Responding::Dark(loss);
        self.verdict = Some(Verdict::Dark(loss));
    }

    /// No more responses come; the requests that waited for one.
    pub(super) fn end_responses(&mut self) -> VecDeque<Question> {
        self.responses = Responding::Ended;
        self.verdict = Some(Verdict::Refused);
        std::mem::take(&mut self.unanswered)
    }

    /// What the response direction has decided since it was last asked.
    pub(super) fn take_verdict(&mut self) -> Option<Verdict> {
        self.verdict.take()
    }
}
