//! Pairs requests with responses, and passes facts between the two directions.

use std::collections::VecDeque;

use crate::http::{Loss, StreamId};

/// Maximum number of requests that may wait for their responses.
pub(super) const MAX_UNANSWERED: usize = 1024;

/// The requests without a final response, oldest first (RFC 9112 §9.3.2), and the facts that one direction needs from the other.
#[derive(Debug)]
pub(super) struct Pairing {
    unanswered: VecDeque<Question>,
    requests_lost: Option<Loss>,
    responses: Responding,
    verdict: Option<Verdict>,
}

/// The facts of a request that decide how its response is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    /// Which exchange.
    pub(super) stream: StreamId,
    /// The method, as far as it changes the response's framing.
    pub(super) method: Method,
    /// Whether it carries `Upgrade`.
    pub(super) upgrade: bool,
}

/// A method that changes how a response is framed, or any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// The response has no body.
    Head,
    /// A successful response starts a tunnel.
    Connect,
    /// Any other method.
    Other,
}

/// The outcome of a request to switch protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The connection is no longer HTTP.
    Granted,
    /// The connection is still HTTP.
    Refused,
    /// The responses are no longer decoded.
    Stopped(Loss),
    /// The response cannot be assigned to its request.
    Unpaired,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Responding {
    Decoded,
    Stopped(Loss),
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
    /// Whether bytes of another protocol may follow the request.
    pub(super) fn may_switch(self) -> bool {
        self.upgrade || self.method == Method::Connect
    }
}

impl Pairing {
    pub(super) fn new() -> Self {
        Self { unanswered: VecDeque::new(), requests_lost: None, responses: Responding::Decoded, verdict: None }
    }

    /// Number of waiting requests.
    pub(super) fn len(&self) -> usize {
        self.unanswered.len()
    }

    /// Whether no further request may wait.
    pub(super) fn is_full(&self) -> bool {
        self.len() >= MAX_UNANSWERED
    }

    /// The request that the next response answers.
    pub(super) fn first(&self) -> Option<Question> {
        self.unanswered.front().copied()
    }

    /// Why requests may have passed unseen; `None` if all were seen.
    pub(super) fn requests_lost(&self) -> Option<Loss> {
        self.requests_lost
    }

    /// Adds a request. If its response will certainly not be seen, does not add it, and returns the verdict that follows.
    pub(super) fn ask(&mut self, question: Question) -> Option<Verdict> {
        match self.responses {
            Responding::Decoded => {
                self.unanswered.push_back(question);
                None
            }
            Responding::Stopped(loss) => Some(Verdict::Stopped(loss)),
            Responding::Ended => Some(Verdict::Refused),
        }
    }

    /// Notes the final response to the oldest request.
    pub(super) fn answer(&mut self, question: Question, verdict: Verdict) {
        self.unanswered.pop_front();
        if question.may_switch() {
            self.verdict = Some(verdict);
        }
    }

    /// Drops the waiting requests: their responses cannot be assigned.
    pub(super) fn unpair(&mut self) {
        self.unanswered = VecDeque::new();
        self.verdict = Some(Verdict::Unpaired);
    }

    /// Notes that requests are no longer decoded.
    pub(super) fn lose_requests(&mut self, loss: Loss) {
        self.requests_lost = Some(loss);
    }

    /// Notes that responses are no longer decoded.
    pub(super) fn lose_responses(&mut self, loss: Loss) {
        self.unanswered = VecDeque::new();
        self.responses = Responding::Stopped(loss);
        self.verdict = Some(Verdict::Stopped(loss));
    }

    /// Notes the end of the responses; returns the requests that still waited.
    pub(super) fn end_responses(&mut self) -> VecDeque<Question> {
        self.responses = Responding::Ended;
        self.verdict = Some(Verdict::Refused);
        std::mem::take(&mut self.unanswered)
    }

    /// The latest decision of the response direction; `None` if it was taken already.
    pub(super) fn take_verdict(&mut self) -> Option<Verdict> {
        self.verdict.take()
    }
}
