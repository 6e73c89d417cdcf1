//! Tests of the environment variables that the command gets.

use std::ffi::{OsStr, OsString};

use crate::child::variables;
use crate::kubeconfig::Via;

#[test]
fn without_a_proxy_only_the_kubeconfig_is_set() {
    adds(&[], &[]);
    adds(&[("NO_PROXY", "corp"), ("HTTP_PROXY", "http://p"), ("HTTPS_PROXY", "")], &[]);
}

#[test]
fn loopback_is_added_to_both_no_proxy_spellings() {
    let alone = "127.0.0.1,localhost,::1";
    for proxy in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        adds(&[(proxy, "p")], &[("NO_PROXY", alone), ("no_proxy", alone)]);
    }
}

#[test]
fn no_proxy_includes_the_proxy_itself_for_kube_rs() {
    for (proxies, added) in [
        (&[("HTTPS_PROXY", "http://me:s3cret@proxy.corp:3128")][..], "proxy.corp:3128"),
        (&[("HTTPS_PROXY", "http://proxy.corp"), ("https_proxy", "http://proxy.corp:80")], "proxy.corp:80"),
        (&[("ALL_PROXY", "socks5://10.0.0.7:1080"), ("HTTPS_PROXY", "https://[fd00::7]:3128/")], "[fd00::7]:3128,10.0.0.7"),
    ] {
        let exceptions = format!("127.0.0.1,localhost,::1,{added}");
        adds(proxies, &[("NO_PROXY", &exceptions), ("no_proxy", &exceptions)]);
    }
}

#[test]
fn no_proxy_is_unchanged_when_watchtap_is_the_proxy() {
    let inherited = |name: &str| (name == "HTTPS_PROXY").then(|| OsString::from("http://p"));
    let found = variables(OsStr::new("/run/kubeconfig"), Via::ProxyUrl, inherited);
    assert_eq!(found, [("KUBECONFIG".into(), "/run/kubeconfig".into())]);
}

#[test]
fn existing_no_proxy_entries_are_kept() {
    let [corp, other] = ["corp,127.0.0.1,localhost,::1", "other,127.0.0.1,localhost,::1"];
    let proxy = ("HTTPS_PROXY", "p");
    adds(&[proxy, ("NO_PROXY", "corp"), ("no_proxy", "other")], &[("NO_PROXY", corp), ("no_proxy", other)]);
    adds(&[proxy, ("no_proxy", "corp")], &[("NO_PROXY", corp), ("no_proxy", corp)]);
    adds(&[proxy, ("NO_PROXY", "corp"), ("no_proxy", "")], &[("NO_PROXY", corp), ("no_proxy", corp)]);
}

#[track_caller]
fn adds(inherited: &[(&str, &str)], expected: &[(&str, &str)]) {
    let look_up = |name: &str| inherited.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
    let found = variables(OsStr::new("/run/kubeconfig"), Via::Server, look_up);
    let expected = [&[("KUBECONFIG", "/run/kubeconfig")], expected].concat();
    assert_eq!(found, expected.into_iter().map(|(name, value)| (name.into(), value.into())).collect::<Vec<_>>());
}
