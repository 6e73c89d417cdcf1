//! The certificate authority of one run. Its key is never written to disk.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::RootCertStore;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};

/// Issues the certificate that clients see, and the client certificates that prove admission.
///
/// Its key is held in memory only.
pub struct PrivateAuthority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A client certificate and its key in PEM, for a user of the client's kubeconfig.
pub struct ClientIdentity {
    /// The client certificate, in PEM.
    pub certificate_pem: String,
    /// The private key (PKCS #8): as secret as a password.
    pub key_pem: String,
}

/// The cryptographic library failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot create the certificates of this run: {detail}")]
pub struct AuthorityError {
    detail: String,
}

/// Certificates become valid a little before now, since clocks differ, and outlast any run.
const VALID_BEFORE: Duration = Duration::from_hours(24);
const VALID_AFTER: Duration = Duration::from_hours(2 * 365 * 24);

impl PrivateAuthority {
    /// Creates an authority with a new key and a self-signed certificate.
    pub fn generate() -> Result<Self, AuthorityError> {
        let mut params = params("watchtap private CA", &[])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().map_err(AuthorityError::of)?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(AuthorityError::of)?;
        Ok(Self { issuer })
    }

    /// The CA certificate in PEM, for a cluster of the client's kubeconfig.
    pub fn certificate_pem(&self) -> String {
        self.issuer.pem()
    }

    /// Issues a certificate to a client.
    pub fn issue_client(&self) -> Result<ClientIdentity, AuthorityError> {
        let mut params = params("watchtap client", &[])?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let (certificate, key) = self.issue(params)?;
        Ok(ClientIdentity { certificate_pem: certificate.pem(), key_pem: key.serialize_pem() })
    }

    /// Issues a certificate for the loopback names of this machine, and for `name`.
    pub fn issue_server(
        &self,
        name: Option<&ServerName<'_>>,
    ) -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), AuthorityError> {
        let mut names = vec![
            SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            SanType::IpAddress(IpAddr::V6(Ipv6Addr::LOCALHOST)),
            SanType::DnsName("localhost".try_into().map_err(AuthorityError::of)?),
        ];
        match name {
            Some(ServerName::DnsName(name)) => names.push(SanType::DnsName(name.as_ref().try_into().map_err(AuthorityError::of)?)),
            Some(ServerName::IpAddress(address)) => names.push(SanType::IpAddress((*address).into())),
            Some(_) | None => {}
        }
        let mut params = params("watchtap", &names)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let (certificate, key) = self.issue(params)?;
        Ok((certificate.der().clone(), PrivatePkcs8KeyDer::from(key.serialize_der()).into()))
    }

    /// Returns a verifier that admits only clients with a certificate of this authority.
    pub fn client_verifier(
        &self,
        provider: Arc<rustls::crypto::CryptoProvider>,
    ) -> Result<Arc<dyn ClientCertVerifier>, AuthorityError> {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).map_err(AuthorityError::of)?;
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().map_err(AuthorityError::of)
    }

    fn issue(&self, mut params: CertificateParams) -> Result<(rcgen::Certificate, KeyPair), AuthorityError> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(AuthorityError::of)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(AuthorityError::of)?;
        Ok((certificate, key))
    }
}

fn params(common_name: &str, names: &[SanType]) -> Result<CertificateParams, AuthorityError> {
    let mut params = CertificateParams::new(Vec::new()).map_err(AuthorityError::of)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.subject_alt_names = names.to_vec();
    let now = SystemTime::now();
    params.not_before = (now - VALID_BEFORE).into();
    params.not_after = (now + VALID_AFTER).into();
    Ok(params)
}

impl AuthorityError {
    /// Takes the text of a library's error.
    pub fn of(error: impl std::fmt::Display) -> Self {
        Self { detail: error.to_string() }
    }
}

impl std::fmt::Debug for PrivateAuthority {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PrivateAuthority").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ClientIdentity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ClientIdentity").finish_non_exhaustive()
    }
}
