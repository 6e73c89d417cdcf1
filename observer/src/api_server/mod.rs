//! The API server that a tap leads to: where it listens, how it is reached and trusted, and our own requests to it.

mod endpoint;
pub mod request;
mod route;
mod tls;

pub use endpoint::UpstreamEndpoint;
pub use route::{ForwardProxyFault, Transport, UpstreamError, UpstreamRoute};
pub(crate) use route::{read_head, timed_out};
pub use tls::{ClientCertificate, TlsConfigError, UpstreamFiles, UpstreamIdentity, UpstreamReading, UpstreamTls, UpstreamTrust};
