//! TLS to the API server: the server certificates that watchtap trusts, and the client certificate that it presents.

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
