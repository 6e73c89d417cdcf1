//! The user's forward proxy between us and an API server.
//!
//! The choice is the same as client-go's: the `proxy-url` of the kubeconfig's cluster, otherwise `HTTPS_PROXY` and `NO_PROXY` of
//! the environment (Go's `golang.org/x/net/http/httpproxy`, v0.47). A *forward proxy* (RFC 9110 §3.7) is a third party's; our own
//! proxy is the tap. Nothing here connects, or reads the process's environment.

mod address;
mod environment;
mod no_proxy;

pub use address::{AddressError, Credentials, ForwardProxy, Scheme};
pub use environment::ProxyEnvironment;

#[cfg(test)]
mod tests;
