//! Accepts clients while upstream accepts connections, and refuses them while upstream refuses.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};

use super::ListenerState;
use super::close_signal::{self, CloseSender};
use super::gate::Question;
use super::port::{Client, Port, Shortage};
use super::probe::{Probe, ProbeEvent};
use super::renewal::READ_AGAIN;
use super::serve_connection::serve_connection;
use super::shared::Shared;
use crate::api_server::UpstreamError;

/// Owns the port, the dials that decide its state, and the connections' tasks.
pub(super) struct Listener {
    shared: Arc<Shared>,
    port: Port,
    probe: Probe,
    connections: JoinSet<()>,
    close_signal: CloseSender,
    /// When the last warning about waiting clients was logged.
    shortage_reported: Option<Instant>,
    /// When the certificate files are read again, and the age of the certificate that clients see is checked, even without new
    /// connections.
    reading: Interval,
}

/// Minimum time between two warnings about waiting clients, which are frequent on a busy machine at its limit.
const REPORT_AGAIN: Duration = Duration::from_mins(1);

enum Event {
    Client(Client),
    Shortage(Shortage),
    Asked,
    Probe(ProbeEvent),
    ConnectionOver(Result<(), JoinError>),
    ReadAgain,
}

impl Listener {
    pub(super) fn new(shared: Arc<Shared>, port: Port) -> Self {
        let (probe, connections, close_signal) = (Probe::new(), JoinSet::new(), CloseSender::new());
        let mut reading = interval_at(Instant::now() + READ_AGAIN, READ_AGAIN);
        reading.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { shared, port, probe, connections, close_signal, shortage_reported: None, reading }
    }

    /// Serves until the future is dropped.
    pub(super) async fn run(&mut self) {
        self.shared.listener_is(ListenerState::Listening);
        loop {
            self.turn().await;
        }
    }

    /// Waits for the next event, and handles it. Cancel-safe.
    async fn turn(&mut self) {
        match self.event().await {
            Event::Client(client) => self.admit(client),
            Event::Shortage(shortage) => self.short(&shortage),
            Event::Asked => self.asked(),
            Event::Probe(ProbeEvent::Due) => self.dial(),
            Event::Probe(ProbeEvent::SpareOver) => {}
            Event::Probe(ProbeEvent::Dialled { question, outcome }) => self.dialled(question, outcome),
            Event::ConnectionOver(joined) => self.connection_over(joined),
            Event::ReadAgain => {
                self.shared.reissue_if_due(SystemTime::now());
                let shared = Arc::clone(&self.shared);
                tokio::spawn(async move { shared.renew().await });
            }
        }
    }

    /// Closes the port and waits up to `grace` for the connections to end. It then ends the remaining connections on both sides,
    /// with `close_notify` and FIN. Those that have not ended [`close_signal::LIMIT`] later are reset.
    pub(super) async fn finish(self, grace: Duration) {
        let Self { port, mut connections, close_signal, .. } = self;
        drop(port);
        if !all_over(&mut connections, grace).await {
            close_signal.send();
            if !all_over(&mut connections, close_signal::LIMIT).await {
                connections.shutdown().await;
            }
        }
    }

    async fn event(&mut self) -> Event {
        tokio::select! {
            accepted = next_client(&mut self.port, &self.shared) => match accepted {
                Ok(client) => Event::Client(client),
                Err(shortage) => Event::Shortage(shortage),
            },
            () = self.shared.gate.asked() => Event::Asked,
            event = self.probe.event() => Event::Probe(event),
            Some(joined) = self.connections.join_next() => Event::ConnectionOver(joined),
            _ = self.reading.tick() => Event::ReadAgain,
        }
    }

    fn admit(&mut self, client: Client) {
        // In this order: a client that is counted as accepted already counts as connected.
        self.shared.connected.send_modify(|connected| *connected += 1);
        self.shared.counters.accepted.add(1);
        self.shared.first_client.send_if_modified(|came| !std::mem::replace(came, true));
        let spare = self.probe.take_spare();
        let hello = self.shared.descriptors.hellos().begin();
        self.connections.spawn(serve_connection(Arc::clone(&self.shared), client, hello, spare, self.close_signal.receiver()));
    }

    /// Counts a waiting client, and logs a warning at most once per [`REPORT_AGAIN`].
    fn short(&mut self, shortage: &Shortage) {
        let counters = &self.shared.counters;
        let waits = if shortage.is_of_descriptors() { &counters.waits_for_descriptors } else { &counters.waits_for_system };
        waits.add(1);
        if self.shortage_reported.is_some_and(|received| received.elapsed() < REPORT_AGAIN) {
            return;
        }
        self.shortage_reported = Some(Instant::now());
        match shortage {
            Shortage::Descriptors => tracing::warn!(
                "new clients wait until a connection closes: each takes two file descriptors, and this process may open {} (see \
                 ulimit -Hn)",
                self.shared.descriptors.limit()
            ),
            Shortage::System(error) => tracing::warn!(%error, "new clients wait: the system cannot accept them"),
        }
    }

    fn asked(&mut self) {
        if self.probe.ask(&self.shared.route, self.shared.gate.last_question()) {
            self.shared.counters.bare_dials.add(1);
        }
    }

    fn dial(&mut self) {
        if self.probe.start(&self.shared.route, self.shared.gate.last_question()) {
            self.shared.counters.bare_dials.add(1);
        }
    }

    /// Opens or closes the port according to `outcome`, and then answers the questions.
    fn dialled(&mut self, question: Question, outcome: Result<(), UpstreamError>) {
        match outcome {
            // Upstream closed the connection of the dial. The question stays open until the next dial: its askers need to know
            // whether upstream still accepts connections.
            Err(error) if error.is_closed() && self.probe.follow_up() => return,
            // The forward proxy accepted the TCP connection. Without watchtap, clients could have been refused only by this proxy,
            // so its later reply and delay do not matter.
            Ok(()) | Err(UpstreamError::ForwardProxy { .. }) => self.listen(),
            Err(UpstreamError::Refused { .. }) => {
                self.hold();
                self.probe.retry();
            }
            // Not a refusal, so no reason to close the port, but no reason to open it either.
            Err(_other) if self.port.is_held() => self.probe.retry(),
            Err(_other) => {}
        }
        let state = if self.port.is_held() { ListenerState::Refusing } else { ListenerState::Listening };
        self.shared.gate.settle(question, state);
        if self.shared.gate.is_open() {
            self.dial();
        }
    }

    fn listen(&mut self) {
        let held = self.port.is_held();
        match self.port.listen() {
            Ok(()) => self.probe.rest(),
            Err(error) => {
                tracing::warn!(%error, "the API server accepts connections again, but our port cannot listen yet");
                self.probe.retry();
            }
        }
        if held && !self.port.is_held() {
            self.shared.listener_is(ListenerState::Listening);
        }
    }

    fn hold(&mut self) {
        if !self.port.is_held() {
            let resets = self.port.hold();
            self.shared.listener_is(ListenerState::Refusing);
            self.shared.reset_instead_of_refused(resets);
        }
    }

    fn connection_over(&self, joined: Result<(), JoinError>) {
        self.shared.connected.send_modify(|connected| *connected -= 1);
        if let Err(error) = joined {
            self.shared.counters.faults.add(1);
            tracing::error!(%error, "a connection was reset because of an internal error; please report it");
        }
    }
}

/// Accepts a client once there is room for its `ClientHello`.
async fn next_client(port: &mut Port, shared: &Shared) -> Result<Client, Shortage> {
    shared.descriptors.hellos().room().await;
    port.accept(&shared.descriptors).await
}

/// Whether all tasks end within `limit`.
async fn all_over(connections: &mut JoinSet<()>, limit: Duration) -> bool {
    timeout(limit, async { while connections.join_next().await.is_some() {} }).await.is_ok()
}
