//! The TLS configuration of connections to the API server.

use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio_rustls::TlsConnector;

use super::insecure::AnyCertificate;
use super::server_verifier::ServerVerifier;
use crate::api_server::{ClientCertificate, TlsConfigError, UpstreamIdentity};

/// How the API server is trusted, and which certificate is presented to it.
#[derive(Clone)]
pub struct UpstreamTls {
    pub(crate) connector: TlsConnector,
    pub(crate) server_name: ServerName<'static>,
    verifier: Arc<dyn ServerCertVerifier>,
    key: Option<Arc<CertifiedKey>>,
}

/// Which certificates prove that a server is the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpstreamTrust {
    /// Certificates issued by one of these CA certificates, in PEM.
    Authorities(Vec<u8>),
    /// Certificates that this system trusts.
    Native,
    /// Any certificate: with `insecure-skip-tls-verify: true` in the kubeconfig, with `--upstream-insecure`, or if a probe knows no
    /// CA of its API server.
    Anybody,
}

impl UpstreamTls {
    /// The rustls configuration, for connections with watchtap's own requests.
    pub fn client_config(&self) -> Arc<ClientConfig> {
        Arc::clone(self.connector.config())
    }

    /// The name that the server's certificate must carry.
    pub fn server_name(&self) -> ServerName<'static> {
        self.server_name.clone()
    }

    /// `server_name` is the name that the server's certificate must carry: `tls-server-name`, or the host of `server`.
    pub fn new(trust: &UpstreamTrust, server_name: &str, client: Option<&ClientCertificate>) -> Result<Self, TlsConfigError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = trust.verifier(&provider)?;
        let key = client.map(|client| client.certified_key(&provider)).transpose()?;
        let server_name = ServerName::try_from(server_name.to_owned())
            .map_err(|_invalid| TlsConfigError::ServerName { name: server_name.to_owned() })?;
        Self::with(provider, server_name, verifier, key)
    }

    fn with(
        provider: Arc<CryptoProvider>,
        server_name: ServerName<'static>,
        verifier: Arc<dyn ServerCertVerifier>,
        key: Option<Arc<CertifiedKey>>,
    ) -> Result<Self, TlsConfigError> {
        let config = config(provider, Arc::clone(&verifier), key.clone())?;
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), server_name, verifier, key })
    }

    /// Whether there is a client certificate to present in the handshake.
    pub(crate) fn presents_certificate(&self) -> bool {
        self.connector.config().client_auth_cert_resolver.has_certs()
    }

    /// The same configuration with another client certificate.
    pub(crate) fn presenting(&self, client: &ClientCertificate) -> Result<Self, TlsConfigError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let key = client.certified_key(&provider)?;
        Self::with(provider, self.server_name.clone(), Arc::clone(&self.verifier), Some(key))
    }

    /// The same configuration with the trust and the client certificate of `identity`.
    pub(crate) fn renewed(&self, identity: &UpstreamIdentity) -> Result<Self, TlsConfigError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = identity.trust.verifier(&provider)?;
        let key = match &identity.certificate {
            Some(certificate) => Some(certificate.certified_key(&provider)?),
            None => self.key.clone(),
        };
        Self::with(provider, self.server_name.clone(), verifier, key)
    }
}

fn config(
    provider: Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
    key: Option<Arc<CertifiedKey>>,
) -> Result<ClientConfig, TlsConfigError> {
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(TlsConfigError::Library)?;
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    Ok(match key {
        Some(key) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key))),
        None => builder.with_no_client_auth(),
    })
}

impl UpstreamTrust {
    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, TlsConfigError> {
        let (trusted, nobody) = match self {
            Self::Anybody => return Ok(Arc::new(AnyCertificate::new(provider))),
            Self::Authorities(pem) => (authorities(pem)?, TlsConfigError::NoRoots),
            Self::Native => return native_verifier(provider).ok_or(TlsConfigError::NoNativeRoots),
        };
        Ok(Arc::new(ServerVerifier::new(trusted, provider).ok_or(nobody)?))
    }
}

/// Reads the system's trust store once per process, even if it has no usable certificate. Reading is slow, because the store holds
/// more than a hundred certificates, and a kubeconfig may have a hundred clusters without a CA.
fn native_verifier(provider: &Arc<CryptoProvider>) -> Option<Arc<dyn ServerCertVerifier>> {
    static NATIVE: OnceLock<Option<Arc<ServerVerifier>>> = OnceLock::new();
    let load = || ServerVerifier::new(rustls_native_certs::load_native_certs().certs, provider).map(Arc::new);
    NATIVE.get_or_init(load).clone().map(|verifier| verifier as Arc<dyn ServerCertVerifier>)
}

fn authorities(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsConfigError> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    certificates.map_err(|error| TlsConfigError::Pem { what: "`certificate-authority`", detail: error.to_string() })
}

impl std::fmt::Debug for UpstreamTls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("UpstreamTls").field("server_name", &self.server_name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use observer_pki::PrivateAuthority;

    #[test]
    fn tls_setup_error_names_the_invalid_part() {
        let authority = PrivateAuthority::generate().unwrap();
        let trust = UpstreamTrust::Authorities(authority.certificate_pem().into_bytes());
        let [one, other] = [authority.issue_client().unwrap(), authority.issue_client().unwrap()];
        let certificate = |chain: &str, key: &str| ClientCertificate { chain_pem: chain.into(), key_pem: key.into() };

        check(&UpstreamTrust::Authorities(Vec::new()), "localhost", None, "certificate-authority");
        check(&UpstreamTrust::Authorities(b"-----BEGIN CERTIFICATE-----\n?".to_vec()), "localhost", None, "certificate-authority");
        check(&trust, "no such name", None, "`no such name` is not a valid server name");
        check(&trust, "localhost", Some(&certificate("", &one.key_pem)), "`client-certificate`");
        check(&trust, "localhost", Some(&certificate(&one.certificate_pem, "")), "`client-key`");
        check(&trust, "localhost", Some(&certificate(&one.certificate_pem, &other.key_pem)), "do not match");
        assert!(UpstreamTls::new(&trust, "::1", Some(&certificate(&one.certificate_pem, &one.key_pem))).is_ok());
    }

    #[test]
    fn system_trust_roots_are_read_once() {
        let provider = Arc::new(aws_lc_rs::default_provider());
        match [(); 2].map(|()| UpstreamTrust::Native.verifier(&provider)) {
            [Ok(one), Ok(other)] => assert!(Arc::ptr_eq(&one, &other)),
            [one, other] => assert!(one.is_err() && other.is_err(), "a system that trusts nobody does so each time"),
        }
    }

    #[track_caller]
    fn check(trust: &UpstreamTrust, name: &str, client: Option<&ClientCertificate>, expected: &str) {
        let message = UpstreamTls::new(trust, name, client).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
