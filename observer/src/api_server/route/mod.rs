//! A TCP connection to an API server: directly, or through a forward proxy.

mod dial;
mod error;
mod http_connect;
mod socks;
mod transport;
mod upstream_route;

pub(crate) use dial::{dial, timed_out};
pub use error::{ForwardProxyFault, UpstreamError};
pub(crate) use http_connect::read_head;
pub use transport::Transport;
pub use upstream_route::UpstreamRoute;
