//! Who we are on both sides of a listener's connections. Both change at once, or somebody could be let in as nobody and go on as somebody.

use std::sync::{Arc, PoisonError, RwLock};

use rustls_pki_types::ServerName;

use super::server_configs::ServerConfigs;
use super::{Admission, AuthorityError, ClientCertificate, Entrance, PrivateAuthority, TlsConfigError, UpstreamTls};

/// What one connection is made with.
#[derive(Debug)]
pub(super) struct Sides {
    pub(super) upstream_tls: UpstreamTls,
    pub(super) server_configs: ServerConfigs,
}

/// What the next connection is made with.
#[derive(Debug)]
pub(super) struct CurrentSides {
    /// Issues what clients see of us.
    authority: Arc<PrivateAuthority>,
    entrance: Entrance,
    current: RwLock<Arc<Sides>>,
}

impl CurrentSides {
    pub(super) fn new(
        authority: Arc<PrivateAuthority>,
        entrance: Entrance,
        admission: &Admission,
        upstream_tls: UpstreamTls,
    ) -> Result<Self, AuthorityError> {
        let server_configs = ServerConfigs::new(&authority, shown_name(entrance, &upstream_tls), admission)?;
        Ok(Self { authority, entrance, current: RwLock::new(Arc::new(Sides { upstream_tls, server_configs })) })
    }

    /// For one connection, from its beginning to its end.
    pub(super) fn current(&self) -> Arc<Sides> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// From the next connection on `certificate` is presented upstream, and nobody is let in but those to whom `issuer` has issued a
    /// certificate. Sessions of before cannot be resumed, since the tickets have another key.
    pub(super) fn present(&self, certificate: &ClientCertificate, issuer: &Arc<PrivateAuthority>) -> Result<(), TlsConfigError> {
        let upstream_tls = self.current().upstream_tls.presenting(certificate)?;
        let name = shown_name(self.entrance, &upstream_tls);
        let server_configs = ServerConfigs::new(&self.authority, name, &Admission::HoldersOf(Arc::clone(issuer)))?;
        let sides = Arc::new(Sides { upstream_tls, server_configs });
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = sides;
        Ok(())
    }
}

/// Which name beside those of loopback our certificate bears.
fn shown_name(entrance: Entrance, upstream_tls: &UpstreamTls) -> Option<&ServerName<'static>> {
    match entrance {
        Entrance::Server => None,
        Entrance::ForwardProxy => Some(&upstream_tls.server_name),
    }
}
