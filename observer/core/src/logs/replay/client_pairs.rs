//! Joins the two lines that a client logs of a request at verbosity 7 and 8.

use crate::logs::client_requests::ClientRequest;

/// The requests of one client without an answer. The line of an answer does not name its request, so it belongs to the only open one.
#[derive(Debug, Default)]
pub(super) struct ClientPairs {
    /// Number of requests without an answer.
    open: u64,
    /// The request, if no other one was open at the same time.
    only: Option<ClientRequest>,
}

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
            self.open = self.open.saturating_add(1);
            self.only = (self.open == 1).then_some(line);
            return Paired::Later;
        }
        if !line.method.is_empty() {
            return Paired::Request(Box::new(line));
        }
        self.open = self.open.saturating_sub(1);
        match self.only.take() {
            Some(ClientRequest { method, uri, .. }) => Paired::Request(Box::new(ClientRequest { method, uri, ..line })),
            None => Paired::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::redacted::Redacted;

    fn line(method: &str, is_answer: bool) -> ClientRequest {
        ClientRequest {
            at: None,
            method: method.to_owned(),
            uri: Redacted(method.to_lowercase()),
            status: is_answer.then_some(200),
            latency: is_answer.then_some(Duration::from_millis(5)),
        }
    }

    #[test]
    fn answer_belongs_to_the_only_open_request() {
        let mut pairs = ClientPairs::default();
        assert_eq!(pairs.take(line("GET", true)), Paired::Request(Box::new(line("GET", true))));
        for method in ["GET", "POST"] {
            assert_eq!(pairs.take(line(method, false)), Paired::Later);
            assert_eq!(pairs.take(line("", true)), Paired::Request(Box::new(line(method, true))));
        }
    }

    #[test]
    fn answers_of_simultaneous_requests_are_unknown() {
        let mut pairs = ClientPairs::default();
        for (method, is_answer) in [("GET", false), ("PUT", false)] {
            assert_eq!(pairs.take(line(method, is_answer)), Paired::Later);
        }
        assert_eq!([(); 3].map(|()| pairs.take(line("", true))), [Paired::Unknown, Paired::Unknown, Paired::Unknown]);
        pairs.take(line("GET", false));
        assert_eq!(pairs.take(line("", true)), Paired::Request(Box::new(line("GET", true))));
    }
}
