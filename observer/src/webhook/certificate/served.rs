//! The certificate that the server presents: always the current one.

use std::sync::{Arc, PoisonError, RwLock};

use observer_pki::AuthorityError;
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// The current certificate with its key, if there is one.
#[derive(Debug, Default)]
pub(super) struct Served(RwLock<Option<Arc<CertifiedKey>>>);

impl Served {
    /// A configuration for TLS servers, which always presents the certificate that `self` has at that moment. The API server's client
    /// for webhooks speaks HTTP/1.1.
    pub(super) fn server_config(self: &Arc<Self>) -> Result<Arc<ServerConfig>, AuthorityError> {
        let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let builder = builder.map_err(AuthorityError::of)?.with_no_client_auth();
        let mut config = builder.with_cert_resolver(Arc::<Self>::clone(self));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A resumed session would continue with a certificate that was replaced.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }

    /// Presents this certificate from now on. Fails if the key is not its own.
    pub(super) fn replace(&self, chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<(), rustls::Error> {
        let certified = CertifiedKey::from_der(chain, key, &provider())?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(certified));
        Ok(())
    }
}

impl ResolvesServerCert for Served {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}
