//! Dials upstream to find out whether it accepts connections, and keeps an accepted one for the next client. The eBPF tap, which is
//! called the probe elsewhere, is unrelated.
//!
//! ```text
//!             question                    refused               every 200 ms (after a minute: every 2 s)
//!   Idle ───────────────► Dialling ─────────────────► Refused ◄──────────────────────► Dialling
//!    ▲                      │  accepted: a spare                                          │
//!    └──────────────────────┴─────────────────────────────────────────────────────────────┘
//! ```

use std::pin::Pin;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

use super::gate::Question;
use super::socket;
use crate::api_server::{Transport, UpstreamError, UpstreamRoute};

/// The dials of one listener; at most one is under way, and at most one spare connection is kept.
pub(super) struct Probe {
    dialling: Option<Dialling>,
    /// When to dial again without a question.
    next: Option<Instant>,
    refused_since: Option<Instant>,
    spare: Option<Spare>,
    /// Number of dials in a row that were made because upstream closed the previous connection.
    follow_ups: u8,
}

struct Dialling {
    since: Instant,
    /// The last question that this dial answers.
    question: Question,
    outcome: Pin<Box<dyn Future<Output = Result<Transport, UpstreamError>> + Send>>,
}

/// A connection that upstream accepted and that is still unused.
///
/// It is offered to the next client, since a server logs each connection that ends unused.
#[derive(Debug)]
pub(super) struct Spare {
    tcp: TcpStream,
    since: Instant,
}

/// An event that a probe produces by itself.
pub(super) enum ProbeEvent {
    /// A dial has finished.
    Dialled { question: Question, outcome: Result<(), UpstreamError> },
    /// It is time to dial.
    Due,
    /// Upstream closed the spare connection, or it became too old.
    SpareOver,
}

/// Time between two dials while upstream refuses.
const INTERVAL: Duration = Duration::from_millis(200);
/// Time between two dials once upstream has refused for [`FAST_FOR`].
const SLOW_INTERVAL: Duration = Duration::from_secs(2);
const FAST_FOR: Duration = Duration::from_mins(1);
/// Time after which an unanswered dial is given up, so that the next dial soon finds out that upstream is back.
const DIAL_LIMIT: Duration = Duration::from_secs(2);
/// Maximum age of a spare connection: well below kube-apiserver's 32 s for an idle new connection (`ReadHeaderTimeout`, apiserver
/// `pkg/server/secure_serving.go`).
const SPARE_AGE: Duration = Duration::from_secs(10);
/// Maximum number of follow-up dials in a row. A server that shuts down may accept a dial, then close its listener and the spare
/// connection. So the end of a spare connection causes another dial. A load balancer without backends may accept and close
/// endlessly.
const FOLLOW_UPS: u8 = 5;

impl Probe {
    pub(super) fn new() -> Self {
        Self { dialling: None, next: None, refused_since: None, spare: None, follow_ups: 0 }
    }

    /// Dials to answer `question`. Does nothing if a dial is under way: when that one has finished, the listener finds the question
    /// still open. Returns whether it dialled.
    pub(super) fn ask(&mut self, route: &UpstreamRoute, question: Question) -> bool {
        self.follow_ups = 0;
        self.start(route, question)
    }

    /// Dials unless a dial is under way; returns whether it did.
    pub(super) fn start(&mut self, route: &UpstreamRoute, question: Question) -> bool {
        self.next = None;
        if self.dialling.is_some() {
            return false;
        }
        let route = route.clone();
        let outcome = Box::pin(async move { route.connect(DIAL_LIMIT).await });
        self.dialling = Some(Dialling { since: Instant::now(), question, outcome });
        true
    }

    /// Schedules the next dial after the interval, since upstream does not accept.
    pub(super) fn retry(&mut self) {
        let now = Instant::now();
        let since = *self.refused_since.get_or_insert(now);
        let interval = if now.duration_since(since) < FAST_FOR { INTERVAL } else { SLOW_INTERVAL };
        self.next = Some(now + interval);
    }

    /// Schedules another dial, since upstream closed a connection that it had just accepted. Returns false, and schedules none,
    /// after [`FOLLOW_UPS`] in a row.
    pub(super) fn follow_up(&mut self) -> bool {
        let pause = if self.follow_ups == 0 { Duration::ZERO } else { INTERVAL };
        let follow = self.follow_ups < FOLLOW_UPS;
        if follow {
            self.follow_ups += 1;
            self.next = Some(Instant::now() + pause);
        }
        follow
    }

    /// Schedules no dial, since upstream accepts.
    pub(super) fn rest(&mut self) {
        (self.next, self.refused_since) = (None, None);
    }

    /// The spare connection, for the next client.
    pub(super) fn take_spare(&mut self) -> Option<Spare> {
        self.spare.take()
    }

    /// Waits for the next event. Dropping the future loses nothing.
    pub(super) async fn event(&mut self) -> ProbeEvent {
        tokio::select! {
            outcome = dialled(self.dialling.as_mut()) => self.dialled(outcome),
            () = due(self.next) => ProbeEvent::Due,
            ended = spare_over(self.spare.as_mut()) => self.spare_over(ended),
        }
    }

    fn dialled(&mut self, outcome: Result<Transport, UpstreamError>) -> ProbeEvent {
        let Some(dialling) = self.dialling.take() else { return ProbeEvent::Due };
        let outcome = outcome.map(|transport| self.spare = Spare::new(transport, dialling.since));
        ProbeEvent::Dialled { question: dialling.question, outcome }
    }

    fn spare_over(&mut self, ended: SpareEnd) -> ProbeEvent {
        self.spare = None;
        if ended == SpareEnd::ByUpstream {
            self.follow_up();
        }
        ProbeEvent::SpareOver
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SpareEnd {
    ByUpstream,
    ByAge,
}

async fn dialled(dialling: Option<&mut Dialling>) -> Result<Transport, UpstreamError> {
    match dialling {
        Some(dialling) => dialling.outcome.as_mut().await,
        None => std::future::pending().await,
    }
}

async fn due(next: Option<Instant>) {
    match next {
        Some(next) => sleep_until(next).await,
        None => std::future::pending().await,
    }
}

async fn spare_over(spare: Option<&mut Spare>) -> SpareEnd {
    let Some(spare) = spare else { return std::future::pending().await };
    let mut byte = [0];
    tokio::select! {
        // Nothing was sent on this connection, so anything readable is its end, an error, or an unexpected message.
        _read = spare.tcp.peek(&mut byte) => SpareEnd::ByUpstream,
        () = sleep_until(spare.since + SPARE_AGE) => SpareEnd::ByAge,
    }
}

impl Spare {
    /// Returns `None` for a connection inside a forward proxy's TLS. Unrequested session tickets arrive there, and look like the
    /// end of the connection.
    fn new(transport: Transport, since: Instant) -> Option<Self> {
        match transport {
            Transport::Tcp(tcp) => Some(Self { tcp, since }),
            Transport::WithinTls(_) => None,
        }
    }

    /// The connection, if it is young enough and still silent.
    pub(super) fn into_quiet(self) -> Option<TcpStream> {
        (self.since.elapsed() < SPARE_AGE && socket::is_quiet(&self.tcp)).then_some(self.tcp)
    }
}
