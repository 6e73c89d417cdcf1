//! The proxy tap: terminates TLS on both sides and copies the plaintext bytes verbatim.
//!
//! It does not implement HTTP, so it can neither change a request nor invent a response. Each difference from a direct connection
//! is documented where it arises: [`Proxy`] (when clients are refused), `splice` (how ends are passed on), `socket` (keep-alive).

mod authority;
mod client_certificate;
mod client_stall;
mod close_signal;
mod config;
mod connect_request;
mod connection_tls;
mod counters;
mod descriptors;
mod dial;
mod endpoint;
mod error;
mod establish;
mod flow;
mod gate;
mod greeting;
mod hello;
mod hellos;
mod http_connect;
mod insecure;
mod listener;
mod port;
mod probe;
mod renewal;
mod route;
mod serve;
mod serve_connection;
mod server_configs;
mod server_verifier;
mod shared;
mod side;
mod socket;
mod socks;
mod splice;
mod tee;
mod tls_error;
mod transport;
mod unforwardable;
mod upstream_files;
mod upstream_tls;

pub use crate::intake::{ForwardProxyFault, ListenerState, UpstreamError};
pub use authority::{AuthorityError, ClientIdentity, PrivateAuthority};
pub use client_certificate::ClientCertificate;
pub use config::{Admission, Entrance, ProxyConfig};
pub use counters::ProxyCounts;
pub use descriptors::Descriptors;
pub use endpoint::UpstreamEndpoint;
pub use error::ProxyError;
pub use route::UpstreamRoute;
pub use serve::{Proxy, ProxyHandle};
pub use tls_error::TlsConfigError;
pub use transport::Transport;
pub use upstream_files::{UpstreamFiles, UpstreamIdentity, UpstreamReading};
pub use upstream_tls::{UpstreamTls, UpstreamTrust};
