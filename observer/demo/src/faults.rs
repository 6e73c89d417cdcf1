//! Faults that are switched on for a limited time.

use std::time::Duration;

use tokio::time::Instant;

use super::refusal::Refusal;

/// The current faults, each with its end. Faults without a duration are methods of [`super::DemoHandle`].
#[derive(Debug, Default)]
pub(super) struct Faults {
    answer: Option<(FaultAnswer, Instant)>,
    no_bookmarks_until: Option<Instant>,
    no_list_end_until: Option<Instant>,
    pace: Option<Pace>,
}

/// The speed of bodies while the network is slow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Of each response.
    pub(super) bytes_per_second: u64,
    /// After this time, bodies are sent at full speed.
    pub(super) until: Instant,
}

/// The answer to all requests for resources while a fault lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAnswer {
    /// 429, as from a server that is filling its watch caches, with `Retry-After: 1`.
    TooManyRequests,
    /// 504, as after the request timeout of a server that hangs.
    GatewayTimeout,
    /// 503, as from a server that is not ready.
    ServiceUnavailable,
    /// 500, as from a server whose etcd fails.
    InternalError,
}

impl Faults {
    pub(super) fn answer_with(&mut self, answer: FaultAnswer, lasting: Duration) {
        self.answer = Some((answer, Instant::now() + lasting));
    }

    pub(super) fn drop_bookmarks(&mut self, lasting: Duration) {
        self.no_bookmarks_until = Some(Instant::now() + lasting);
    }

    pub(super) fn drop_list_ends(&mut self, lasting: Duration) {
        self.no_list_end_until = Some(Instant::now() + lasting);
    }

    pub(super) fn slow_down(&mut self, bytes_per_second: u64, lasting: Duration) {
        self.pace = Some(Pace { bytes_per_second, until: Instant::now() + lasting });
    }

    /// The pace of a response that begins now, if there is such a fault.
    pub(super) fn pace(&self) -> Option<Pace> {
        self.pace.filter(|pace| Instant::now() < pace.until)
    }

    /// The answer that every request for a resource gets now, if there is such a fault.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let (answer, until) = self.answer?;
        (Instant::now() < until).then(|| match answer {
            FaultAnswer::TooManyRequests => Refusal::too_many_requests("storage is (re)initializing", 1),
            FaultAnswer::GatewayTimeout => Refusal::timeout("request did not complete within the allotted timeout", None),
            FaultAnswer::InternalError => Refusal::internal("etcdserver: request timed out"),
            FaultAnswer::ServiceUnavailable => Refusal::service_unavailable("the server is currently unable to handle the request"),
        })
    }

    /// Whether no current fault drops the bookmark that ends initial events.
    pub(super) fn allow_list_ends(&self) -> bool {
        self.no_list_end_until.is_none_or(|until| Instant::now() >= until)
    }

    /// Whether no current fault stops bookmarks.
    pub(super) fn allow_bookmarks(&self) -> bool {
        self.no_bookmarks_until.is_none_or(|until| Instant::now() >= until)
    }
}
