//! Verifies the API server's certificate: by its chain, or because the certificate itself is in the CA file (a pinned certificate).
//!
//! Go accepts a server certificate that is itself among the roots, whatever its signer and whether or not it is a CA's
//! (`Certificate.Verify`, `crypto/x509/verify.go`, Go 1.26). Kubeconfigs rely on that: `certificate-authority-data` may contain the
//! server's own certificate. webpki accepts such a certificate only if it is self-signed and not a CA's. So if webpki refuses a
//! pinned certificate, this module makes Go's checks: validity, name, usage, critical extensions. Like Go, it accepts only names
//! among the subject alternative names, and so no certificate of X.509 version 1. Unlike Go, webpki accepts no wildcard directly
//! below a top-level domain.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;
use x509_parser::time::ASN1Time;

/// Accepts certificates that webpki accepts, and pinned certificates that pass Go's checks.
#[derive(Debug)]
pub(super) struct ServerVerifier {
    chains: Arc<WebPkiServerVerifier>,
    pinned: Vec<CertificateDer<'static>>,
}

impl ServerVerifier {
    /// Makes a verifier that trusts the certificates in `trusted` and those that they issued. Returns `None` if webpki can use none
    /// of `trusted`. A certificate that webpki cannot parse, for example because of a negative serial number, does not invalidate
    /// the others. Go's `x509.CertPool` has the same behaviour.
    pub(super) fn new(trusted: Vec<CertificateDer<'static>>, provider: &Arc<CryptoProvider>) -> Option<Self> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build().ok()?;
        Some(Self { chains, pinned: trusted })
    }
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let by_chain = self.chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        if by_chain.is_ok() || !self.pinned.contains(end_entity) {
            return by_chain;
        }
        verify_pinned(end_entity, server_name, now).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// Makes Go's checks of a pinned certificate. Critical extensions need no check here, since webpki's parser refuses unknown ones.
fn verify_pinned(certificate: &CertificateDer<'_>, server_name: &ServerName<'_>, now: UnixTime) -> Result<(), Error> {
    verify_server_name(&ParsedCertificate::try_from(certificate)?, server_name)?;
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|_error| CertificateError::BadEncoding)?;
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let now = ASN1Time::from_timestamp(seconds).map_err(|_error| Error::FailedToGetCurrentTime)?;
    if now < parsed.validity().not_before {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > parsed.validity().not_after {
        return Err(CertificateError::Expired.into());
    }
    let usages = parsed.extended_key_usage().map_err(|_error| CertificateError::BadEncoding)?;
    if usages.is_some_and(|usages| !usages.value.any && !usages.value.server_auth) {
        return Err(CertificateError::InvalidPurpose.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rcgen::{
        BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, ExtendedKeyUsagePurpose, IsCa, KeyPair,
        date_time_ymd,
    };
    use rustls::crypto::aws_lc_rs;
    use rustls_pki_types::pem::PemObject;

    use super::*;

    /// A certificate of X.509 version 1 for the common name `api.example`, valid for a century, made with `openssl x509 -req`
    /// (OpenSSL 3.0).
    const VERSION_1: &str = "
-----BEGIN CERTIFICATE-----
MIIBKTCBzwIUMUBquYO8PHIgGfdQk9LQ738IgcEwCgYIKoZIzj0EAwIwFjEUMBIG
A1UEAwwLYXBpLmV4YW1wbGUwIBcNMjYxMTIxMjAxMzUwWhgPMjEyNjEwMjgyMDEz
NTBaMBYxFDASBgNVBAMMC2FwaS5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEeNpDUIBcxEYeBofWccIU22m7DQy1SuZGrQ8x8gPmy0yKu+RdUH8tesHp
nTL8wOrKE+klOkekeakEavYbzXTImjAKBggqhkjOPQQDAgNJADBGAiEA2mcKqd9d
YD/nIBng3S7WzkD4tHDVwygbQre9XF6hmi8CIQDTctk+HxJm7VN/AA1g8R37LMFJ
ZmBzBVrmoAe5j6acTQ==
-----END CERTIFICATE-----";

    #[test]
    fn pinned_certificate_is_accepted_from_any_issuer() {
        for is_ca in [IsCa::NoCa, IsCa::ExplicitNoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
            check(|params| params.is_ca = is_ca, None);
        }
        let issued_by_a_stranger = issued();
        assert_eq!(verdict(&issued_by_a_stranger, std::slice::from_ref(&issued_by_a_stranger)), None);
    }

    #[test]
    fn pinned_certificate_name_is_checked() {
        check_ca(|params| params.subject_alt_names.clear(), Some("not valid for"));
        check_ca(
            |params| params.subject_alt_names = vec![rcgen::SanType::DnsName("other.example".try_into().unwrap())],
            Some("other.example"),
        );
        check_ca(|params| params.subject_alt_names = vec![rcgen::SanType::DnsName("*.k8s.example".try_into().unwrap())], None);
        let version_1 = CertificateDer::from_pem_slice(VERSION_1.as_bytes()).unwrap();
        assert!(verdict(&version_1, std::slice::from_ref(&version_1)).is_some(), "Go looks at no common name");
    }

    #[test]
    fn pinned_certificate_validity_is_checked() {
        check_ca(|params| params.not_after = date_time_ymd(2001, 1, 1), Some("Expired"));
        check_ca(|params| params.not_before = date_time_ymd(4000, 1, 1), Some("NotValidYet"));
    }

    #[test]
    fn pinned_certificate_key_usages_are_checked() {
        use ExtendedKeyUsagePurpose::{Any, ClientAuth, ServerAuth};
        for (usages, expected) in
            [(vec![ClientAuth], Some("InvalidPurpose")), (vec![ClientAuth, ServerAuth], None), (vec![Any], None), (vec![], None)]
        {
            check_ca(|params| params.extended_key_usages = usages.clone(), expected);
        }
    }

    #[test]
    fn unknown_critical_extensions_are_refused() {
        let extension = |critical| {
            let mut extension = CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 99999, 1], vec![5, 0]);
            extension.set_criticality(critical);
            extension
        };
        check_ca(|params| params.custom_extensions = vec![extension(false)], None);
        check_ca(|params| params.custom_extensions = vec![extension(true)], Some(""));
    }

    #[test]
    fn unpinned_certificate_is_refused() {
        let (stranger, other) = (issued(), issued());
        assert!(verdict(&stranger, &[other]).is_some());
    }

    #[track_caller]
    fn check_ca(change: impl Fn(&mut CertificateParams), expected: Option<&str>) {
        let change = |params: &mut CertificateParams| {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            change(params);
        };
        check(change, expected);
    }

    /// Checks whether a pinned, self-signed certificate is refused, and with which message.
    #[track_caller]
    fn check(change: impl Fn(&mut CertificateParams), expected: Option<&str>) {
        let mut params = CertificateParams::new(["api.k8s.example".to_owned()]).unwrap();
        change(&mut params);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone();
        let refusal = verdict(&certificate, std::slice::from_ref(&certificate));
        match expected {
            None => assert_eq!(refusal, None),
            Some(words) => assert!(refusal.as_ref().is_some_and(|refusal| refusal.contains(words)), "{refusal:?} lacks {words:?}"),
        }
    }

    /// A server certificate that an unknown CA issued.
    fn issued() -> CertificateDer<'static> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let params = CertificateParams::new(["api.k8s.example".to_owned()]).unwrap();
        params.signed_by(&KeyPair::generate().unwrap(), &authority).unwrap().der().clone()
    }

    /// Why `certificate` is refused for `api.k8s.example`.
    fn verdict(certificate: &CertificateDer<'static>, trusted: &[CertificateDer<'static>]) -> Option<String> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = ServerVerifier::new(trusted.to_vec(), &provider).expect("webpki can use it as a root");
        let name = ServerName::try_from("api.k8s.example").unwrap();
        verifier.verify_server_cert(certificate, &[], &name, &[], UnixTime::now()).err().map(|error| error.to_string())
    }
}
