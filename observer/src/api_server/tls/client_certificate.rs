//! The client certificate of a kubeconfig's user, and its key.
//!
//! rustls checks whether certificate and key match, but with webpki's parser, which accepts only X.509 version 3. `openssl x509
//! -req` makes version 1 unless it is given extensions. client-go accepts version 1, since Go ignores the version of a certificate
//! (`ParseCertificate`, `crypto/x509/parser.go`, Go 1.26). So this module checks the match itself, with a parser that accepts every
//! version. The API server checks everything else about the certificate.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;
use x509_parser::x509::SubjectPublicKeyInfo;

use crate::api_server::TlsConfigError;

/// The client certificate of a kubeconfig's user, which watchtap presents to the API server.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate and its intermediates, in PEM.
    pub chain_pem: Vec<u8>,
    /// The private key, in PEM.
    pub key_pem: Vec<u8>,
}

impl ClientCertificate {
    /// Parses both and checks that they match.
    pub(super) fn certified_key(&self, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>, TlsConfigError> {
        let chain = CertificateDer::pem_slice_iter(&self.chain_pem)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| TlsConfigError::Pem { what: "`client-certificate`", detail: error.to_string() })?;
        let Some(certificate) = chain.first() else {
            return Err(TlsConfigError::Pem { what: "`client-certificate`", detail: "it contains no certificate".to_owned() });
        };
        let key = PrivateKeyDer::from_pem_slice(&self.key_pem)
            .map_err(|error| TlsConfigError::Pem { what: "`client-key`", detail: error.to_string() })?;
        let key = provider.key_provider.load_private_key(key);
        let key = key.map_err(|error| TlsConfigError::ClientKey { detail: error.to_string() })?;
        let (_, certificate) = X509Certificate::from_der(certificate)
            .map_err(|error| TlsConfigError::ClientCertificate { detail: error.to_string() })?;
        // If the library cannot compute the public key, the key is used unchecked: the API server checks the signature.
        if key.public_key().is_some_and(|public| !is_key_of(&public, &certificate)) {
            return Err(TlsConfigError::KeyOfAnotherCertificate);
        }
        Ok(Arc::new(CertifiedKey::new(chain, key)))
    }
}

/// Compares only the bits of the keys, since their algorithm identifiers can be encoded in several ways.
fn is_key_of(public: &[u8], certificate: &X509Certificate<'_>) -> bool {
    let key = SubjectPublicKeyInfo::from_der(public);
    key.is_ok_and(|(_, key)| key.subject_public_key.data == certificate.public_key().subject_public_key.data)
}

impl std::fmt::Debug for ClientCertificate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ClientCertificate").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use rcgen::{KeyPair, PublicKeyData, SigningKey};
    use rustls::crypto::aws_lc_rs;

    use super::*;

    /// Parts of a DER certificate for `CN=jane`, issued by `CN=jane`, valid until 2049.
    const SERIAL: &[u8] = b"\x02\x01\x01";
    const ECDSA_WITH_SHA256: &[u8] = b"\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02";
    const JANE: &[u8] = b"\x30\x0f\x31\x0d\x30\x0b\x06\x03\x55\x04\x03\x0c\x04jane";
    const VALIDITY: &[u8] = b"\x30\x1e\x17\x0d260101000000Z\x17\x0d490101000000Z";

    #[test]
    fn version_1_client_certificate_is_presented() {
        let key = KeyPair::generate().unwrap();
        let certificate = ClientCertificate { chain_pem: version_1(&key).into(), key_pem: key.serialize_pem().into() };
        let certified = certificate.certified_key(&aws_lc_rs::default_provider()).unwrap();
        let (_, shown) = X509Certificate::from_der(&certified.cert[0]).unwrap();
        assert_eq!((shown.version().0, shown.subject().to_string()), (0, "CN=jane".to_owned()));
    }

    #[test]
    fn mismatched_key_is_refused_for_each_certificate_version() {
        let [one, other] = [KeyPair::generate().unwrap(), KeyPair::generate().unwrap()];
        let version_3 = rcgen::CertificateParams::new(Vec::new()).unwrap().self_signed(&one).unwrap().pem();
        for chain in [version_1(&one), version_3] {
            let certificate = ClientCertificate { chain_pem: chain.into(), key_pem: other.serialize_pem().into() };
            let error = certificate.certified_key(&aws_lc_rs::default_provider()).unwrap_err();
            assert!(matches!(error, TlsConfigError::KeyOfAnotherCertificate), "{error}");
        }
    }

    #[test]
    fn invalid_certificate_is_not_reported_as_key_mismatch() {
        let key = KeyPair::generate().unwrap();
        let certificate = ClientCertificate { chain_pem: pem(b"\x30\x00").into(), key_pem: key.serialize_pem().into() };
        let error = certificate.certified_key(&aws_lc_rs::default_provider()).unwrap_err();
        assert!(matches!(error, TlsConfigError::ClientCertificate { .. }), "{error}");
    }

    /// A self-signed certificate as `openssl x509 -req` makes it without extensions.
    fn version_1(key: &KeyPair) -> String {
        let public = key.subject_public_key_info();
        let signed = sequence(&[SERIAL, ECDSA_WITH_SHA256, JANE, VALIDITY, JANE, &public]);
        let mut signature = vec![0];
        signature.extend(key.sign(&signed).unwrap());
        pem(&sequence(&[&signed, ECDSA_WITH_SHA256, &tagged(0x03, &signature)]))
    }

    fn sequence(parts: &[&[u8]]) -> Vec<u8> {
        tagged(0x30, &parts.concat())
    }

    /// A DER element of up to 64 KiB.
    fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
        let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[tag, 0x82, high, low], content].concat()
    }

    fn pem(der: &[u8]) -> String {
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(der))
    }
}
