//! The counters of a proxy.

use std::iter::Sum;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::api_server::UpstreamError;

/// Totals since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProxyCounts {
    /// TCP connections accepted from clients.
    pub accepted: u64,
    /// Clients that had to wait for file descriptors. A client is counted when it becomes the next to be served.
    pub waits_for_descriptors: u64,
    /// Times that the system refused to accept a waiting client, for any reason other than a lack of descriptors.
    pub waits_for_system: u64,
    /// Connections that completed both handshakes.
    pub established: u64,
    /// Established connections that have ended.
    pub over: u64,
    /// Clients that were reset, but would have been refused without watchtap.
    pub reset_instead_of_refused: u64,
    /// Clients that gave up, sent no valid `ClientHello`, did not finish it in time, or presented a wrong certificate where one is
    /// needed.
    pub client_handshakes_failed: u64,
    /// Clients that presented a certificate of their own, at a listener that presents none upstream.
    pub certificates_refused: u64,
    /// Clients that presented no certificate, at a listener that presents one upstream.
    pub certificates_missing: u64,
    /// Clients that were reset before their `ClientHello` was complete, because others needed room.
    pub hellos_given_up: u64,
    /// Clients that sent a CONNECT for a target other than the listener's API server.
    pub asked_elsewhere: u64,
    /// Clients for which upstream could not be reached or was not trusted.
    pub upstream_failed: u64,
    /// TCP connections opened to find out whether upstream accepts.
    pub bare_dials: u64,
    /// Connections whose task failed because of an internal error; both sides were reset.
    pub faults: u64,
}

impl ProxyCounts {
    /// Connections established now.
    pub fn open(&self) -> u64 {
        self.established.saturating_sub(self.over).saturating_sub(self.faults)
    }
}

/// The totals of several proxies.
impl Sum for ProxyCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, one| Self {
            accepted: sum.accepted + one.accepted,
            waits_for_descriptors: sum.waits_for_descriptors + one.waits_for_descriptors,
            waits_for_system: sum.waits_for_system + one.waits_for_system,
            established: sum.established + one.established,
            over: sum.over + one.over,
            reset_instead_of_refused: sum.reset_instead_of_refused + one.reset_instead_of_refused,
            client_handshakes_failed: sum.client_handshakes_failed + one.client_handshakes_failed,
            certificates_refused: sum.certificates_refused + one.certificates_refused,
            certificates_missing: sum.certificates_missing + one.certificates_missing,
            hellos_given_up: sum.hellos_given_up + one.hellos_given_up,
            asked_elsewhere: sum.asked_elsewhere + one.asked_elsewhere,
            upstream_failed: sum.upstream_failed + one.upstream_failed,
            bare_dials: sum.bare_dials + one.bare_dials,
            faults: sum.faults + one.faults,
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) accepted: Counter,
    pub(super) waits_for_descriptors: Counter,
    pub(super) waits_for_system: Counter,
    pub(super) established: Counter,
    pub(super) over: Counter,
    pub(super) reset_instead_of_refused: Counter,
    pub(super) client_handshakes_failed: Counter,
    pub(super) certificates_refused: Counter,
    pub(super) certificates_missing: Counter,
    pub(super) hellos_given_up: Counter,
    pub(super) asked_elsewhere: Counter,
    pub(super) upstream_failed: Counter,
    pub(super) bare_dials: Counter,
    pub(super) faults: Counter,
    last_upstream_error: std::sync::Mutex<Option<UpstreamError>>,
}

#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn add(&self, amount: u64) {
        self.add_to(amount);
    }

    /// Adds `amount` and returns the value before.
    pub(super) fn add_to(&self, amount: u64) -> u64 {
        self.0.fetch_add(amount, Ordering::Relaxed)
    }

    fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub(super) fn snapshot(&self) -> ProxyCounts {
        ProxyCounts {
            accepted: self.accepted.value(),
            waits_for_descriptors: self.waits_for_descriptors.value(),
            waits_for_system: self.waits_for_system.value(),
            established: self.established.value(),
            over: self.over.value(),
            reset_instead_of_refused: self.reset_instead_of_refused.value(),
            client_handshakes_failed: self.client_handshakes_failed.value(),
            certificates_refused: self.certificates_refused.value(),
            certificates_missing: self.certificates_missing.value(),
            hellos_given_up: self.hellos_given_up.value(),
            asked_elsewhere: self.asked_elsewhere.value(),
            upstream_failed: self.upstream_failed.value(),
            bare_dials: self.bare_dials.value(),
            faults: self.faults.value(),
        }
    }

    pub(super) fn upstream_failed(&self, error: UpstreamError) {
        self.upstream_failed.add(1);
        *self.last_error() = Some(error);
    }

    pub(super) fn last_upstream_error(&self) -> Option<UpstreamError> {
        self.last_error().clone()
    }

    fn last_error(&self) -> std::sync::MutexGuard<'_, Option<UpstreamError>> {
        self.last_upstream_error.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
