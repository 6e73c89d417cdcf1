//! The client-facing half of TLS: one configuration for each protocol that upstream may choose.

use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::ServerName;

use super::Admission;
use super::unforwardable::NoCertificate;
use observer_pki::{AuthorityError, PrivateAuthority, ServerIdentity};

/// Configurations that differ only in the protocol that ALPN selects.
#[derive(Debug)]
pub(super) struct ServerConfigs {
    none: Arc<ServerConfig>,
    http1: Arc<ServerConfig>,
    http2: Arc<ServerConfig>,
    /// When its certificate may be used.
    fresh: Range<SystemTime>,
}

pub(super) const HTTP1: &[u8] = b"http/1.1";
pub(super) const HTTP2: &[u8] = b"h2";

impl ServerConfigs {
    /// Issues a new certificate of `authority` for loopback and `names`; `admission` decides which clients are let in.
    pub(super) fn new(
        authority: &PrivateAuthority,
        names: &[ServerName<'_>],
        admission: &Admission,
        now: SystemTime,
    ) -> Result<Self, AuthorityError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(AuthorityError::of)?;
        let builder = match admission {
            Admission::HoldersOf(issuer) => builder.with_client_cert_verifier(issuer.client_verifier(provider)?),
            Admission::Anybody => builder.with_client_cert_verifier(Arc::new(NoCertificate::new(&provider))),
        };
        let ServerIdentity { certificate, key, valid } = authority.issue_server(names, now)?;
        let mut config = builder.with_single_cert(vec![certificate], key).map_err(AuthorityError::of)?;
        // Stateless tickets: a client that reconnects can resume its session, and the proxy keeps nothing for it.
        config.ticketer = aws_lc_rs::Ticketer::new().map_err(AuthorityError::of)?;
        let none = Arc::new(config);
        Ok(Self {
            http1: Arc::new(with_alpn(&none, HTTP1)),
            http2: Arc::new(with_alpn(&none, HTTP2)),
            none,
            fresh: first_half(valid),
        })
    }

    /// Whether the certificate should be replaced: half of its time is over, or the clock was set back before its time.
    pub(super) fn is_due(&self, now: SystemTime) -> bool {
        !self.fresh.contains(&now)
    }

    /// The configuration that answers with `protocol`.
    pub(super) fn for_protocol(&self, protocol: Option<&[u8]>) -> Arc<ServerConfig> {
        match protocol {
            None => Arc::clone(&self.none),
            Some(HTTP1) => Arc::clone(&self.http1),
            Some(HTTP2) => Arc::clone(&self.http2),
            Some(other) => Arc::new(with_alpn(&self.none, other)),
        }
    }
}

fn first_half(time: Range<SystemTime>) -> Range<SystemTime> {
    let half = time.end.duration_since(time.start).unwrap_or_default() / 2;
    time.start..time.start + half
}

fn with_alpn(config: &ServerConfig, protocol: &[u8]) -> ServerConfig {
    let mut config = config.clone();
    config.alpn_protocols = vec![protocol.to_vec()];
    config
}
