//! Joins the two lines that a client logs of a request at verbosity 7 and 8.

use std::collections::VecDeque;
use std::time::Duration;

use crate::logs::client_requests::ClientRequest;

/// Maximum number of requests without an answer that are kept. That of an interrupted program has none.
const MOST_OPEN: usize = 64;
/// Longest time between the line of a request and its beginning, as the line of its answer states it, to a millisecond.
const BEGINS_WITHIN: Duration = Duration::from_millis(5);

/// The requests of one log without an answer, the oldest first.
///
/// The line of an answer does not name its request. But it has the time in which the request was answered, and with that its beginning.
#[derive(Debug, Default)]
pub(super) struct ClientPairs(VecDeque<ClientRequest>);

/// The result for a line about a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Paired {
    /// A request with its answer.
    Request(Box<ClientRequest>),
    /// The answer comes in a later line.
    Later,
    /// An answer, and it is unknown of which request.
    Unknown,
}

impl ClientPairs {
    pub(super) fn take(&mut self, line: ClientRequest) -> Paired {
        if line.latency.is_none() {
            if self.0.len() >= MOST_OPEN {
                self.0.pop_front();
            }
            self.0.push_back(line);
            return Paired::Later;
        }
        if !line.method.is_empty() {
            return Paired::Request(Box::new(line));
        }
        match self.index_of(&line).and_then(|index| self.0.remove(index)) {
            Some(ClientRequest { method, uri, .. }) => Paired::Request(Box::new(ClientRequest { method, uri, ..line })),
            None => Paired::Unknown,
        }
    }

    /// The only request that began when the answered one did, or the only one at all.
    fn index_of(&self, answer: &ClientRequest) -> Option<usize> {
        let began = answer.at.zip(answer.latency).map(|(at, latency)| at.minus(latency));
        let is_it = |request: &ClientRequest| {
            let both = request.at.zip(began);
            both.is_some_and(|(at, began)| at.since(began) <= BEGINS_WITHIN && began.since(at) <= BEGINS_WITHIN)
        };
        let mut those = self.0.iter().enumerate().filter(|(_, request)| is_it(request)).map(|(index, _)| index);
        match (those.next(), those.next()) {
            (Some(index), None) => Some(index),
            (Some(_), Some(_)) => None,
            (None, _) => (self.0.len() == 1).then_some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redacted::Redacted;
    use crate::time::Timestamp;

    /// The line of a request, or of an answer after five milliseconds, at this millisecond.
    fn line(method: &str, is_answer: bool, at: Option<u64>) -> ClientRequest {
        ClientRequest {
            at: at.map(|milliseconds| Timestamp::from_nanos(milliseconds * 1_000_000)),
            method: method.to_owned(),
            uri: Redacted(method.to_lowercase()),
            status: is_answer.then_some(200),
            latency: is_answer.then_some(Duration::from_millis(5)),
        }
    }

    #[track_caller]
    fn check(pairs: &mut ClientPairs, at: Option<u64>, expected: Option<&str>) {
        let paired = pairs.take(line("", true, at));
        assert_eq!(paired, expected.map_or(Paired::Unknown, |method| Paired::Request(Box::new(line(method, true, at)))));
    }

    #[test]
    fn answer_belongs_to_the_only_open_request() {
        let mut pairs = ClientPairs::default();
        assert_eq!(pairs.take(line("GET", true, None)), Paired::Request(Box::new(line("GET", true, None))));
        for (method, at) in [("GET", None), ("POST", Some(7))] {
            assert_eq!(pairs.take(line(method, false, at)), Paired::Later);
            check(&mut pairs, at.map(|at| at + 900), Some(method));
        }
    }

    #[test]
    fn answers_of_requests_that_begin_together_are_unknown() {
        let mut pairs = ClientPairs::default();
        for (method, at) in [("GET", 100), ("PUT", 101), ("POST", 200)] {
            assert_eq!(pairs.take(line(method, false, Some(at))), Paired::Later);
        }
        check(&mut pairs, Some(106), None);
        check(&mut pairs, Some(206), Some("POST"));
        check(&mut pairs, None, None);
    }

    #[test]
    fn lost_answer_hides_no_later_request() {
        let mut pairs = ClientPairs::default();
        for at in (0..200_000).step_by(1_000) {
            pairs.take(line("LOST", false, Some(at)));
            pairs.take(line("GET", false, Some(at + 500)));
            check(&mut pairs, Some(at + 505), Some("GET"));
        }
        assert_eq!(pairs.0.len(), MOST_OPEN - 1);
    }
}
