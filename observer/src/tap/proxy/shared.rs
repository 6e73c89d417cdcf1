//! The state that all connections of one listener share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;

use super::connection_tls::CurrentTls;
use super::counters::Counters;
use super::gate::Gate;
use super::renewal::Renewal;
use super::{Descriptors, Entrance, ListenerState};
use crate::api_server::{TlsConfigError, UpstreamError, UpstreamId, UpstreamIdentity, UpstreamRoute};
use crate::intake::{Intake, Notice};
use crate::tap::Clock;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) address: SocketAddr,
    pub(super) upstream_id: UpstreamId,
    pub(super) route: UpstreamRoute,
    pub(super) entrance: Entrance,
    pub(super) connection_tls: CurrentTls,
    /// Renews the upstream half of `connection_tls` from files.
    pub(super) renewal: Option<Renewal>,
    /// In a pod, the container whose clients use the listener.
    pub(super) container_name: Option<String>,
    pub(super) intake: Option<Intake>,
    pub(super) clock: Clock,
    pub(super) handshake_limit: Duration,
    pub(super) counters: Counters,
    pub(super) gate: Gate,
    pub(super) descriptors: Descriptors,
    /// Whether a client has ever connected.
    pub(super) first_client: watch::Sender<bool>,
    /// Number of clients that are connected now, including those whose handshake has not ended.
    pub(super) connected: watch::Sender<usize>,
}

impl Shared {
    /// Reads the certificates for upstream again, if they come from files.
    pub(super) async fn renew(self: &Arc<Self>) {
        if let Some(renewal) = &self.renewal {
            renewal.renew(self).await;
        }
    }

    /// Replaces the certificate that clients see if it has become old.
    pub(super) fn reissue_if_due(&self, now: SystemTime) {
        if let Err(error) = self.connection_tls.reissue_if_due(now) {
            tracing::error!(listener = %self.address, %error, "the certificate for clients stays, although it is old");
        }
    }

    /// Uses `identity` for the handshakes with upstream and with an `https` proxy, from the next connection on. `is_another` is
    /// whether its certificate differs from the previous one.
    pub(super) fn renew_by(&self, identity: &UpstreamIdentity, is_another: bool) -> Result<(), TlsConfigError> {
        self.connection_tls.renew(identity, is_another)?;
        self.route.greet_by(&self.connection_tls.current().upstream_tls);
        Ok(())
    }

    /// Counts and reports clients that were reset, but would have been refused without watchtap.
    pub(super) fn reset_instead_of_refused(&self, clients: u64) {
        if clients > 0 {
            self.counters.reset_instead_of_refused.add(clients);
            self.notice(Notice::ResetInsteadOfRefused { at: self.clock.now(), clients });
        }
    }

    /// Counts and reports a client that could not be served.
    pub(super) fn upstream_failed(&self, error: UpstreamError) {
        self.notice(Notice::UpstreamFailed { at: self.clock.now(), error: error.clone() });
        self.counters.upstream_failed(error);
    }

    /// Counts that a client presented a certificate that cannot be passed on, and reports the first one.
    pub(super) fn certificate_refused(&self) {
        if self.counters.certificates_refused.add_to(1) == 0 {
            let remedy = match &self.container_name {
                None => "choose a context of that certificate's user instead of --user or --client-certificate",
                Some(_container) => "do not observe its container (watchtap inject --container)",
            };
            tracing::warn!(
                listener = %self.address,
                "refused a client that presents a client certificate, which cannot be forwarded: {remedy}"
            );
        }
    }

    /// Counts that a client presented no certificate where one is needed, and reports the first one.
    pub(super) fn certificate_missing(&self) {
        if self.counters.certificates_missing.add_to(1) == 0 {
            tracing::warn!(
                listener = %self.address,
                "refused a client that presents no client certificate at the listener of a user who has one: choose a context of \
                 the client's own user instead of --user"
            );
        }
    }

    /// Reports that the listener opened or closed.
    pub(super) fn listener_is(&self, state: ListenerState) {
        self.notice(Notice::Listener { at: self.clock.now(), upstream: self.upstream_id, state });
    }

    fn notice(&self, notice: Notice) {
        if let Some(intake) = &self.intake {
            intake.notice(notice);
        }
    }
}
