//! Determines the user's forward proxy between watchtap and an API server.
//!
//! The choice is the same as client-go's: the `proxy-url` of the kubeconfig's cluster, otherwise `HTTPS_PROXY` and `NO_PROXY` of
//! the environment (Go's `golang.org/x/net/http/httpproxy`, v0.47). In this code, *forward proxy* (RFC 9110 §3.7) means a proxy
//! that is not part of watchtap. Nothing here opens a connection or reads the process's environment.

mod address;
mod environment;
mod no_proxy;

pub use address::{AddressError, Credentials, ForwardProxy, Scheme};
pub use environment::ProxyEnvironment;

#[cfg(test)]
mod tests;
