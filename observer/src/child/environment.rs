//! What the command's environment has beside what it inherits.

use std::ffi::{OsStr, OsString};

/// Proxies that Go, curl and kube-rs know of. Any of them would otherwise be asked to reach our listener.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/// Both spellings are read, by different clients and in different order.
const EXCEPTIONS: [(&str, &str); 2] = [("NO_PROXY", "no_proxy"), ("no_proxy", "NO_PROXY")];
/// Where our listeners are.
const LOOPBACK: &str = "127.0.0.1,localhost,::1";

/// The variables to set for a command so that `kubeconfig`, a value of `KUBECONFIG`, leads it to us; `inherited` looks up what it has anyway.
///
/// Where it has a proxy for HTTPS, loopback is added to the exceptions, and to both spellings the same: a client that finds one
/// does not look at the other.
pub fn variables(kubeconfig: &OsStr, inherited: impl Fn(&str) -> Option<OsString>) -> Vec<(OsString, OsString)> {
    let mut variables = vec![("KUBECONFIG".into(), kubeconfig.to_owned())];
    let set = |name: &str| inherited(name).filter(|value| !value.is_empty());
    if PROXIES.iter().any(|name| set(name).is_some()) {
        variables.extend(EXCEPTIONS.map(|(name, other)| (name.into(), with_loopback(set(name).or_else(|| set(other))))));
    }
    variables
}

fn with_loopback(exceptions: Option<OsString>) -> OsString {
    let Some(mut exceptions) = exceptions else { return LOOPBACK.into() };
    exceptions.push(",");
    exceptions.push(LOOPBACK);
    exceptions
}
