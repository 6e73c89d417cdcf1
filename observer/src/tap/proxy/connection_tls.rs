//! The TLS identities that the proxy uses on both sides of a listener's connections, and the admission of clients. Upstream, the
//! proxy presents the user's certificate. When it begins to present one ([`CurrentTls::present`]), both sides change at once.
//! Otherwise a client that was let in without a certificate could act with the user's certificate.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

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
    /// Number of changes of the user's certificate in files, up to these identities.
    renewals: u64,
}

/// The identities that the next connection uses.
#[derive(Debug)]
pub(super) struct CurrentTls {
    /// Issues the certificate that clients see.
    authority: Arc<PrivateAuthority>,
    entrance: Entrance,
    current: RwLock<Arc<ConnectionTls>>,
    /// Held while `current` is replaced.
    replacing: Mutex<()>,
    renewals: watch::Sender<u64>,
}

impl CurrentTls {
    pub(super) fn new(
        authority: Arc<PrivateAuthority>,
        entrance: Entrance,
        admission: &Admission,
        upstream_tls: UpstreamTls,
    ) -> Result<Self, AuthorityError> {
        let server_configs = ServerConfigs::new(&authority, shown_name(entrance, &upstream_tls), admission)?;
        let connection_tls = ConnectionTls { upstream_tls, server_configs: Arc::new(server_configs), renewals: 0 };
        let (current, replacing) = (RwLock::new(Arc::new(connection_tls)), Mutex::new(()));
        Ok(Self { authority, entrance, current, replacing, renewals: watch::Sender::new(0) })
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
        let name = shown_name(self.entrance, &upstream_tls);
        let server_configs = Arc::new(ServerConfigs::new(&self.authority, name, &Admission::HoldersOf(Arc::clone(issuer)))?);
        self.replace(ConnectionTls { upstream_tls, server_configs, renewals: current.renewals });
        Ok(())
    }

    /// From the next connection on, `identity` decides how upstream is trusted and which certificate it gets. Admission stays as it
    /// was. `is_another` means that the certificate differs, so connections that use the old one are outdated.
    pub(super) fn renew(&self, identity: &UpstreamIdentity, is_another: bool) -> Result<(), TlsConfigError> {
        let _guard = self.replacing.lock();
        let current = self.current();
        let upstream_tls = current.upstream_tls.renewed(identity)?;
        let renewals = current.renewals + u64::from(is_another);
        self.replace(ConnectionTls { upstream_tls, server_configs: Arc::clone(&current.server_configs), renewals });
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

/// The name in the listener's server certificate, besides the loopback names.
fn shown_name(entrance: Entrance, upstream_tls: &UpstreamTls) -> Option<&ServerName<'static>> {
    match entrance {
        Entrance::Server => None,
        Entrance::ForwardProxy => Some(&upstream_tls.server_name),
    }
}
