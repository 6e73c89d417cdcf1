//! Descriptions of what a probe cannot see because the kernel lacks a feature, or because the target is missing.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use super::kernel::KernelError;

/// Without the tracepoints that report what threads send and receive.
pub(super) const UNPAIRED: &str = "only connections of Go and of OpenSSL 3.0 with its own descriptor are seen";
/// Without the tracepoint that reports state changes of sockets.
pub(super) const NO_ENDS: &str = "how connections end is not seen";
/// The first look at all processes takes too long to wait for.
pub(super) const NOT_LOOKED_AT: &str = "looking at all processes has taken two minutes and goes on: programs and libraries that it has not come to yet are not seen until it does";

/// No process listens on the ports of the API servers.
pub(super) fn no_server_ends(api_servers: &[SocketAddr]) -> String {
    let ports: BTreeSet<u16> = api_servers.iter().map(SocketAddr::port).collect();
    let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
    let ports = ports.join(" or ");
    format!("nobody on this machine is seen to listen on port {ports}: no end of an API server is seen until somebody does")
}

/// The cause, and what is not seen because of it.
pub(super) fn without(error: &KernelError, unseen: &str) -> String {
    format!("{error}: {unseen}")
}
