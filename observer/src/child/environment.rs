//! What the command's environment has beside what it inherits.

use std::ffi::{OsStr, OsString};
use std::net::Ipv4Addr;

use crate::forward_proxy::ForwardProxy;
use crate::kubeconfig::Via;

/// Proxies that Go, curl and kube-rs know of. Any of them would otherwise be asked to reach our listener.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/// Both spellings are read, by different clients and in different order.
const EXCEPTIONS: [(&str, &str); 2] = [("NO_PROXY", "no_proxy"), ("no_proxy", "NO_PROXY")];
/// Where our listeners are.
const LOOPBACK: &str = "127.0.0.1,localhost,::1";

/// The variables to set for a command so that `kubeconfig`, a value of `KUBECONFIG`, leads it to us; `inherited` looks up what it has anyway.
///
/// Where it has a proxy for HTTPS and we are its server, loopback is added to the exceptions, and to both spellings the same: a client that
/// finds one does not look at the other. The proxy itself is added, too, because kube-rs looks for the proxy's address among the exceptions
/// instead of the server's (kube-client `src/config/file_loader.rs` v5.0, `proxy_url`). It does so with the `proxy-url` of a cluster as
/// well; so nothing is added where that is us, and Go asks for no exceptions there.
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

/// Loopback, and each of the proxies once.
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

/// An address alone; a name with its port, and an address of IPv6 is a name there (kube-client `src/config/no_proxy.rs` v5.0).
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
