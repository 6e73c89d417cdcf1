//! The upstream half of TLS: whom it trusts, and which certificate it presents.

mod client_certificate;
mod error;
mod insecure;
mod of_kubeconfig;
mod server_verifier;
mod upstream_files;
mod upstream_tls;

pub use client_certificate::ClientCertificate;
pub use error::TlsConfigError;
pub(crate) use of_kubeconfig::{upstream_files, upstream_tls};
pub use upstream_files::{UpstreamFiles, UpstreamIdentity, UpstreamReading};
pub use upstream_tls::{UpstreamTls, UpstreamTrust};
