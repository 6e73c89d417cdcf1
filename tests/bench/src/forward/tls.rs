//! TLS of client and server: version 1.3, AES-128-GCM and X25519 only, so that all proxies negotiate the same.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs::{self, cipher_suite, kx_group};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};

use super::scenario::Http;

fn provider() -> Arc<CryptoProvider> {
    let cipher_suites = vec![cipher_suite::TLS13_AES_128_GCM_SHA256];
    Arc::new(CryptoProvider { cipher_suites, kx_groups: vec![kx_group::X25519], ..aws_lc_rs::default_provider() })
}

fn protocol(http: Http) -> Vec<u8> {
    match http {
        Http::H1 => b"http/1.1".to_vec(),
        Http::H2 => b"h2".to_vec(),
    }
}

/// A client that accepts any certificate, because proxies have different ones and its own cost is not measured. It resumes no
/// session, like Go's clients.
pub(crate) fn client(http: Http) -> Result<ClientConfig> {
    let provider = provider();
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(&[&rustls::version::TLS13])?;
    let verifier = Arc::new(AnyCertificate(provider));
    let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    config.alpn_protocols = vec![protocol(http)];
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// A server with this certificate.
pub(crate) fn server(http: Http, certificate: &Path, key: &Path) -> Result<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&rustls::version::TLS13])?;
    let certificate = CertificateDer::from_pem_file(certificate).context("the server's certificate")?;
    let key = PrivateKeyDer::from_pem_file(key).context("the server's key")?;
    let mut config = builder.with_no_client_auth().with_single_cert(vec![certificate], key)?;
    config.alpn_protocols = vec![protocol(http)];
    config.ticketer = aws_lc_rs::Ticketer::new()?;
    Ok(config)
}

/// Signatures are still verified, so the handshake is a real one.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 is not offered".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
