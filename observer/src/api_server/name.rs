//! Makes the name of an API server in reports.

use super::endpoint::{endpoint, forward_proxy};
use crate::forward_proxy::ForwardProxy;
use crate::kubeconfig::Selected;

/// The name of an API server in reports: `HOST:PORT`, the path in front of its API, the name in its certificate if that differs,
/// and the forward proxy. The proxy is included because one address can mean different servers behind different proxies, such as
/// tunnels to `127.0.0.1`. Equal names mean the same server.
pub(crate) fn name(selected: &Selected) -> String {
    // If the proxy's address cannot be read, no listener leads to this server.
    name_behind(selected, forward_proxy(selected).ok().flatten().as_ref())
}

pub(crate) fn name_behind(selected: &Selected, proxy: Option<&ForwardProxy>) -> String {
    let upstream = &selected.upstream;
    let address = endpoint(selected).to_string() + upstream.path_prefix.trim_end_matches('/');
    let server = match &upstream.tls_server_name {
        Some(server_name) => format!("{address} ({server_name})"),
        None => address,
    };
    match proxy {
        Some(proxy) => format!("{server} via {proxy}"),
        None => server,
    }
}
