//! The environment variables that the command gets in addition to those it inherits.

use std::ffi::{OsStr, OsString};
use std::net::Ipv4Addr;

use crate::forward_proxy::ForwardProxy;
use crate::kubeconfig::Via;

/// Proxy variables that Go, curl and kube-rs read. Clients would use such a proxy to reach watchtap's listener, so an exception is
/// needed.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/// The variables for exceptions, each with the other spelling as its fallback: clients read both, in different order.
const EXCEPTIONS: [(&str, &str); 2] = [("NO_PROXY", "no_proxy"), ("no_proxy", "NO_PROXY")];
/// The exceptions that match watchtap's listeners.
const LOOPBACK: &str = "127.0.0.1,localhost,::1";

/// Returns the variables that make a command connect through watchtap. `kubeconfig` is the value for `KUBECONFIG`, and `inherited`
/// looks up a variable of the existing environment.
///
/// If the environment has an HTTPS proxy, and the `server` of the clients' kubeconfig is watchtap, loopback is added to the
/// exceptions. Both spellings get the same value, because a client that finds one does not read the other.
///
/// The proxy itself is added too, because kube-rs compares the proxy's address with the exceptions, not the server's (kube-client
/// `src/config/file_loader.rs` v5.0, `proxy_url`). It compares a cluster's `proxy-url` as well. So nothing is added if watchtap is
/// the `proxy-url`. Go reads no exceptions in that case.
pub fn variables(kubeconfig: &OsStr, via: Via, inherited: impl Fn(&str) -> Option<OsString>) -> Vec<(OsString, OsString)> {
    let mut variables = vec![("KUBECONFIG".into(), kubeconfig.to_owned())];
    let set = |name: &str| inherited(name).filter(|value| !value.is_empty());
    let proxies: Vec<OsString> = PROXIES.iter().filter_map(|name| set(name)).collect();
    if via == Via::Server && !proxies.is_empty() {
        let added = exceptions(&proxies);
        variables.extend(EXCEPTIONS.map(|(name, other)| (name.into(), with(&added, set(name).or_else(|| set(other))))));
    }
    variables
}

/// Joins loopback and each proxy, without duplicates.
fn exceptions(proxies: &[OsString]) -> String {
    let mut entries = vec![LOOPBACK.to_owned()];
    for proxy in proxies.iter().filter_map(|proxy| ForwardProxy::parse(proxy.to_str()?).ok()) {
        let entry = as_kube_rs_compares(&proxy);
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    entries.join(",")
}

/// The proxy's address in the form that kube-rs compares: an IPv4 address without its port, a name with its port. kube-rs treats
/// IPv6 addresses as names (kube-client `src/config/no_proxy.rs` v5.0).
fn as_kube_rs_compares(proxy: &ForwardProxy) -> String {
    let ForwardProxy { host, port, .. } = proxy;
    if host.parse::<Ipv4Addr>().is_ok() {
        host.clone()
    } else if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

fn with(added: &str, exceptions: Option<OsString>) -> OsString {
    let Some(mut exceptions) = exceptions else { return added.into() };
    exceptions.push(",");
    exceptions.push(added);
    exceptions
}
