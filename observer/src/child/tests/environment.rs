//! What the command finds in its environment.

use std::ffi::{OsStr, OsString};

use crate::child::variables;

#[test]
fn without_a_proxy_only_the_kubeconfig_is_set() {
    adds(&[], &[]);
    adds(&[("NO_PROXY", "corp"), ("HTTP_PROXY", "http://p"), ("HTTPS_PROXY", "")], &[]);
}

#[test]
fn with_a_proxy_loopback_is_an_exception_in_both_spellings() {
    let alone = "127.0.0.1,localhost,::1";
    for proxy in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        adds(&[(proxy, "http://p")], &[("NO_PROXY", alone), ("no_proxy", alone)]);
    }
}

#[test]
fn the_exceptions_that_there_were_stay() {
    let [corp, other] = ["corp,127.0.0.1,localhost,::1", "other,127.0.0.1,localhost,::1"];
    let proxy = ("HTTPS_PROXY", "http://p");
    adds(&[proxy, ("NO_PROXY", "corp"), ("no_proxy", "other")], &[("NO_PROXY", corp), ("no_proxy", other)]);
    adds(&[proxy, ("no_proxy", "corp")], &[("NO_PROXY", corp), ("no_proxy", corp)]);
    adds(&[proxy, ("NO_PROXY", "corp"), ("no_proxy", "")], &[("NO_PROXY", corp), ("no_proxy", corp)]);
}

#[track_caller]
fn adds(inherited: &[(&str, &str)], expected: &[(&str, &str)]) {
    let look_up = |name: &str| inherited.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
    let found = variables(OsStr::new("/run/kubeconfig"), look_up);
    let expected = [&[("KUBECONFIG", "/run/kubeconfig")], expected].concat();
    assert_eq!(found, expected.into_iter().map(|(name, value)| (name.into(), value.into())).collect::<Vec<_>>());
}
