//! The TLS identities that the proxy uses on both sides of a listener's connections, and the admission of clients. Upstream, the
//! proxy presents the user's certificate. When it begins to present one ([`CurrentTls::present`]), both sides change at once.
//! Otherwise a client that was let in without a certificate could act with the user's certificate.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use rustls_pki_types::ServerName;
use tokio::sync::watch;

use super::server_configs::ServerConfigs;
use super::{Admission, Entrance};
use crate::api_server::{ClientCertificate, TlsConfigError, UpstreamIdentity, UpstreamTls};
use observer_pki::{AuthorityError, PrivateAuthority};

/// The identities that one connection uses.
#[derive(Debug)]
pub(super) struct ConnectionTls {
    pub(super) upstream_tls: UpstreamTls,
    pub(super) server_configs: Arc<ServerConfigs>,
    /// Which clients `server_configs` let in.
    admission: Admission,
    /// Number of changes of the user's certificate in files, up to these identities.
    renewals: u64,
}

/// The identities that the next connection uses.
#[derive(Debug)]
pub(super) struct CurrentTls {
    /// Issues the certificate that clients see.
    authority: Arc<PrivateAuthority>,
    /// The names in that certificate, besides the loopback names.
    names: Vec<ServerName<'static>>,
    current: RwLock<Arc<ConnectionTls>>,
    /// Held while `current` is replaced.
    replacing: Mutex<()>,
    renewals: watch::Sender<u64>,
}

impl CurrentTls {
    pub(super) fn new(
        authority: Arc<PrivateAuthority>,
        names: Vec<ServerName<'static>>,
        entrance: Entrance,
        admission: Admission,
        upstream_tls: UpstreamTls,
    ) -> Result<Self, AuthorityError> {
        let names = match entrance {
            Entrance::Server => names,
            Entrance::ForwardProxy => names.into_iter().chain([upstream_tls.server_name.clone()]).collect(),
        };
        let server_configs = Arc::new(ServerConfigs::new(&authority, &names, &admission, SystemTime::now())?);
        let connection_tls = ConnectionTls { upstream_tls, server_configs, admission, renewals: 0 };
        let (current, replacing) = (RwLock::new(Arc::new(connection_tls)), Mutex::new(()));
        Ok(Self { authority, names, current, replacing, renewals: watch::Sender::new(0) })
    }

    /// The identities for a new connection, which keeps them for its lifetime.
    pub(super) fn current(&self) -> Arc<ConnectionTls> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// From the next connection on, `certificate` is presented upstream, and only clients with a certificate issued by `issuer` are
    /// let in. Earlier sessions cannot be resumed, since the tickets have another key.
    pub(super) fn present(&self, certificate: &ClientCertificate, issuer: &Arc<PrivateAuthority>) -> Result<(), TlsConfigError> {
        let _guard = self.replacing.lock();
        let current = self.current();
        let upstream_tls = current.upstream_tls.presenting(certificate)?;
        let admission = Admission::HoldersOf(Arc::clone(issuer));
        let server_configs = self.issue(&admission, SystemTime::now())?;
        self.replace(ConnectionTls { upstream_tls, server_configs, admission, renewals: current.renewals });
        Ok(())
    }

    /// If the certificate that clients see has become old, the next connection uses a new one. It is valid for much longer than
    /// most runs take, but a sidecar runs for as long as its pod.
    pub(super) fn reissue_if_due(&self, now: SystemTime) -> Result<(), AuthorityError> {
        if !self.current().server_configs.is_due(now) {
            return Ok(());
        }
        let _guard = self.replacing.lock();
        let current = self.current();
        let (upstream_tls, admission) = (current.upstream_tls.clone(), current.admission.clone());
        let server_configs = self.issue(&admission, now)?;
        self.replace(ConnectionTls { upstream_tls, server_configs, admission, renewals: current.renewals });
        Ok(())
    }

    fn issue(&self, admission: &Admission, now: SystemTime) -> Result<Arc<ServerConfigs>, AuthorityError> {
        ServerConfigs::new(&self.authority, &self.names, admission, now).map(Arc::new)
    }

    /// From the next connection on, `identity` decides how upstream is trusted and which certificate it gets. Admission stays as it
    /// was. `is_another` means that the certificate differs, so connections that use the old one are outdated.
    pub(super) fn renew(&self, identity: &UpstreamIdentity, is_another: bool) -> Result<(), TlsConfigError> {
        let _guard = self.replacing.lock();
        let current = self.current();
        let upstream_tls = current.upstream_tls.renewed(identity)?;
        let renewals = current.renewals + u64::from(is_another);
        let (server_configs, admission) = (Arc::clone(&current.server_configs), current.admission.clone());
        self.replace(ConnectionTls { upstream_tls, server_configs, admission, renewals });
        self.renewals.send_replace(renewals);
        Ok(())
    }

    /// Waits until the certificate in `connection_tls` has been renewed.
    pub(super) async fn outdated(&self, connection_tls: &ConnectionTls) {
        let mut renewals = self.renewals.subscribe();
        if renewals.wait_for(|renewals| *renewals > connection_tls.renewals).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    fn replace(&self, connection_tls: ConnectionTls) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(connection_tls);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::api_server::UpstreamTrust;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn certificate_is_replaced_when_half_of_its_time_is_over_or_the_clock_was_set_back() {
        let authority = Arc::new(PrivateAuthority::generate().unwrap());
        let upstream_tls = UpstreamTls::new(&UpstreamTrust::Anybody, "127.0.0.1", None).unwrap();
        let tls = CurrentTls::new(authority, Vec::new(), Entrance::Server, Admission::Anybody, upstream_tls).unwrap();
        let (first, now) = (tls.current(), SystemTime::now());
        for fresh in [now, now - Duration::from_hours(1), now + Duration::from_hours(1), now + 300 * DAY] {
            tls.reissue_if_due(fresh).unwrap();
            assert!(Arc::ptr_eq(&tls.current().server_configs, &first.server_configs));
        }
        for due in [now + 400 * DAY, now, now - 400 * DAY] {
            let before = tls.current();
            tls.reissue_if_due(due).unwrap();
            let after = tls.current();
            assert!(before.server_configs.is_due(due) && !after.server_configs.is_due(due));
            assert_eq!(after.renewals, before.renewals, "open connections stay");
        }
    }
}
