//! Which proxy of the user's stands between us and an API server.
//!
//! Decided as by client-go: the `proxy-url` of the kubeconfig's cluster, else `HTTPS_PROXY` and `NO_PROXY` of the environment (Go's
//! `golang.org/x/net/http/httpproxy`, v0.47). A *forward proxy* (RFC 9110 §3.7) is somebody else's; our own is the tap. Nothing here
//! connects or reads the process's environment.

mod address;
mod environment;
mod no_proxy;

pub use address::{AddressError, Credentials, ForwardProxy, Scheme};
pub use environment::ProxyEnvironment;

#[cfg(test)]
mod tests;
