//! A private certificate authority. Its key stays in memory, unless [`PrivateAuthority::to_pem`] is called.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::RootCertStore;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};

use crate::pem::certificate_pem;

/// Issues the certificate that clients see, and the client certificates that prove admission.
pub struct PrivateAuthority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
    /// When its certificate is valid. Those of servers become valid with it.
    valid: Range<SystemTime>,
}

/// A server certificate with its key.
pub struct ServerIdentity {
    /// For the handshake, without the authority's own certificate.
    pub certificate: CertificateDer<'static>,
    /// The private key of `certificate`.
    pub key: PrivateKeyDer<'static>,
    /// When the certificate is meant to be used. It is valid then, and may be valid before.
    pub valid: Range<SystemTime>,
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
#[error("cannot create the private certificates: {detail}")]
pub struct AuthorityError {
    detail: String,
}

/// Certificates become valid a little before now, since clocks differ, and outlast any run on a user's machine.
const VALID_BEFORE: Duration = Duration::from_hours(24);
/// Clients keep trusting a stored authority, and its machine may have got the right time only after it was made. So it becomes valid
/// long before now.
const VALID_LONG_BEFORE: Duration = Duration::from_hours(10 * 365 * 24);
const VALID_AFTER: Duration = Duration::from_hours(2 * 365 * 24);

/// The subject of every authority.
pub(crate) const SUBJECT: &str = "watchtap private CA";

impl PrivateAuthority {
    /// Creates an authority for one run, with a new key and a self-signed certificate.
    pub fn generate() -> Result<Self, AuthorityError> {
        let now = SystemTime::now();
        Self::valid_in(now - VALID_BEFORE..now + VALID_AFTER)
    }

    /// Creates an authority to be stored, with a new key and a self-signed certificate. It is valid for `valid` from `now` on. It is
    /// also valid for years before `now`, which may be a time in the future if the clock is wrong.
    pub fn generate_for(valid: Duration, now: SystemTime) -> Result<Self, AuthorityError> {
        Self::valid_in(now - VALID_LONG_BEFORE..now + valid)
    }

    fn valid_in(valid: Range<SystemTime>) -> Result<Self, AuthorityError> {
        let mut params = own_params()?;
        (params.not_before, params.not_after) = (valid.start.into(), valid.end.into());
        let key = KeyPair::generate().map_err(AuthorityError::of)?;
        let certificate = params.self_signed(&key).map_err(AuthorityError::of)?;
        Ok(Self { certificate: certificate.der().clone(), issuer: Issuer::new(params, key), valid })
    }

    /// The authority with a stored certificate, which is valid in `valid`, and its key. [`super::stored`] has checked that they
    /// match.
    pub(crate) fn of(certificate: CertificateDer<'static>, key: KeyPair, valid: Range<SystemTime>) -> Result<Self, AuthorityError> {
        // Of these, an issuer uses only what all authorities have in common: subject, key usages, identifier of the key.
        let issuer = Issuer::new(own_params()?, key);
        Ok(Self { certificate, issuer, valid })
    }

    /// The CA certificate.
    pub fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// Whether the CA certificate is valid from `now` on for at least `least`.
    pub fn is_valid_for(&self, least: Duration, now: SystemTime) -> bool {
        self.valid.start <= now && now + least <= self.valid.end
    }

    /// The CA certificate in PEM, for those who are to trust it.
    pub fn certificate_pem(&self) -> String {
        certificate_pem(&self.certificate)
    }

    /// The CA certificate and its private key (PKCS #8) in PEM, for a file that only its owner can read.
    pub fn to_pem(&self) -> String {
        self.certificate_pem() + &self.issuer.key().serialize_pem()
    }

    /// Issues a certificate to a client.
    pub fn issue_client(&self) -> Result<ClientIdentity, AuthorityError> {
        let mut params = params("watchtap client", &[], SystemTime::now())?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let (certificate, key) = self.issue(params)?;
        Ok(ClientIdentity { certificate_pem: certificate.pem(), key_pem: key.serialize_pem() })
    }

    /// Issues a certificate for the loopback names of this machine, and for `names`. It becomes valid with the authority, and is meant
    /// to be used from about `now` on.
    pub fn issue_server(&self, names: &[ServerName<'_>], now: SystemTime) -> Result<ServerIdentity, AuthorityError> {
        let mut all = vec![
            SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            SanType::IpAddress(IpAddr::V6(Ipv6Addr::LOCALHOST)),
            SanType::DnsName("localhost".try_into().map_err(AuthorityError::of)?),
        ];
        all.extend(alternative_names(names)?);
        self.issue_server_with(&all, now, VALID_AFTER)
    }

    /// Issues a certificate for `names` alone. It becomes valid with the authority, is meant to be used from about `now` on, and ends
    /// `valid` later.
    pub fn issue_server_for(
        &self,
        names: &[ServerName<'_>],
        now: SystemTime,
        valid: Duration,
    ) -> Result<ServerIdentity, AuthorityError> {
        self.issue_server_with(&alternative_names(names)?, now, valid)
    }

    fn issue_server_with(&self, names: &[SanType], now: SystemTime, valid: Duration) -> Result<ServerIdentity, AuthorityError> {
        let mut params = params("watchtap", names, now)?;
        (params.not_before, params.not_after) = (self.valid.start.into(), (now + valid).into());
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let (certificate, key) = self.issue(params)?;
        Ok(ServerIdentity {
            certificate: certificate.der().clone(),
            key: PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            valid: now - VALID_BEFORE..now + valid,
        })
    }

    /// Returns a verifier that admits only clients with a certificate of this authority.
    pub fn client_verifier(
        &self,
        provider: Arc<rustls::crypto::CryptoProvider>,
    ) -> Result<Arc<dyn ClientCertVerifier>, AuthorityError> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).map_err(AuthorityError::of)?;
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

fn alternative_names(names: &[ServerName<'_>]) -> Result<Vec<SanType>, AuthorityError> {
    let mut found = Vec::new();
    for name in names {
        match name {
            ServerName::DnsName(name) => found.push(SanType::DnsName(name.as_ref().try_into().map_err(AuthorityError::of)?)),
            ServerName::IpAddress(address) => found.push(SanType::IpAddress((*address).into())),
            _ => {}
        }
    }
    Ok(found)
}

/// The content of an authority's own certificate.
fn own_params() -> Result<CertificateParams, AuthorityError> {
    let mut params = params(SUBJECT, &[], SystemTime::now())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn params(common_name: &str, names: &[SanType], now: SystemTime) -> Result<CertificateParams, AuthorityError> {
    let mut params = CertificateParams::new(Vec::new()).map_err(AuthorityError::of)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.subject_alt_names = names.to_vec();
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

impl std::fmt::Debug for ServerIdentity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ServerIdentity").field("valid", &self.valid).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ClientIdentity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ClientIdentity").finish_non_exhaustive()
    }
}
