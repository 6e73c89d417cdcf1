//! Tests of proxy addresses and of `NO_PROXY`. The results in the `NO_PROXY` tables were compared with golang.org/x/net v0.47.

use std::ffi::OsString;

use super::{AddressError, Credentials, ForwardProxy, ProxyEnvironment, Scheme};

#[test]
fn proxy_addresses_get_default_ports() {
    for (address, scheme, host, port) in [
        ("http://proxy", Scheme::Http, "proxy", 80),
        ("HTTPS://proxy.example", Scheme::Https, "proxy.example", 443),
        ("socks5://10.0.0.1", Scheme::Socks5, "10.0.0.1", 1080),
        ("socks5h://[2001:db8::1]:9", Scheme::Socks5, "2001:db8::1", 9),
        ("http://[::1]", Scheme::Http, "::1", 80),
        ("http://proxy:3128/path?query#fragment", Scheme::Http, "proxy", 3128),
        ("http://proxy:", Scheme::Http, "proxy", 80),
    ] {
        let proxy = ForwardProxy::parse(address).unwrap();
        assert_eq!((proxy.scheme, proxy.host.as_str(), proxy.port, proxy.credentials), (scheme, host, port, None), "{address}");
    }
}

#[test]
fn credentials_are_decoded_and_never_shown() {
    let proxy = ForwardProxy::parse("https://me%40corp:s3%3acret%2F@proxy:1").unwrap();
    let expected = Credentials { username: "me@corp".to_owned(), password: "s3:cret/".to_owned() };
    assert_eq!(proxy.credentials.as_ref(), Some(&expected));
    let shown = format!("{proxy} {proxy:?}");
    assert!(shown.starts_with("https://proxy:1 ") && !shown.contains("cret") && !shown.contains("corp"), "{shown}");
    assert_eq!(ForwardProxy::parse("http://me@proxy").unwrap().credentials.unwrap().password, "");
}

#[test]
fn invalid_proxy_addresses_are_refused() {
    for (address, expected) in [
        ("proxy:3128", AddressError::NoScheme),
        ("ftp://proxy", AddressError::UnknownScheme),
        ("http://", AddressError::NoHost),
        ("http://:3128", AddressError::NoHost),
        ("http://a b", AddressError::Host),
        ("http://proxy:0", AddressError::Port),
        ("http://proxy:http", AddressError::Port),
        ("http://%ff@proxy", AddressError::Credentials),
    ] {
        assert_eq!(ForwardProxy::parse(address), Err(expected), "{address}");
    }
}

#[test]
fn loopback_is_never_proxied() {
    check(
        "",
        &["localhost:443", "127.0.0.1:443", "127.9.9.9:1", "::1:443", "::ffff:127.0.0.1:443"],
        &["LOCALHOST:443", "10.0.0.1:443"],
    );
}

#[test]
fn no_proxy_domains_cover_their_subdomains() {
    check(
        "example.com",
        &["example.com:443", "API.Example.com:443", "a.b.example.com:1"],
        &["badexample.com:443", "example.org:443"],
    );
    check(".example.com", &["api.example.com:443"], &["example.com:443"]);
    check("*.example.com", &["api.example.com:443"], &["example.com:443"]);
    check(" other , Example.COM:6443 ", &["api.example.com:6443", "other:1"], &["api.example.com:443"]);
    check("example.com:https", &[], &["example.com:443"]);
    check("com", &["example.com:443"], &["10.0.0.1:443"]);
}

#[test]
fn addresses_and_networks_cover_addresses_only() {
    check("10.0.0.1", &["10.0.0.1:443", "::ffff:10.0.0.1:443"], &["10.0.0.10:443", "x.10.0.0.1:443"]);
    check("10.0.0.1:6443", &["10.0.0.1:6443"], &["10.0.0.1:443"]);
    check("10.1.2.3/8", &["10.255.0.1:443"], &["11.0.0.1:443", "10.0.0.1.example:443"]);
    check("2001:db8::/32,[fd00::1]:6443", &["2001:db8:1::1:443", "fd00::1:6443"], &["fd00::1:443", "10.0.0.1:443"]);
    check("fd00::2", &["fd00::2:443"], &["fd00::3:443"]);
    check("::ffff:10.0.0.0/104", &["10.9.9.9:443"], &["11.9.9.9:443"]);
    check("[fd00::2],10.0.0.0/33", &[], &["fd00::2:443", "10.0.0.1:443"]);
}

#[test]
fn asterisk_covers_every_host_and_invalid_entries_none() {
    check("nowhere,*,nonsense", &["10.0.0.1:443", "example.com:443"], &[]);
    check(",, :80, *", &["example.com:443"], &[]);
    check(",,:80,[]:1,a:b:c", &[], &["example.com:443", "10.0.0.1:443"]);
    check("**", &[], &["example.com:443"]);
}

#[test]
fn uppercase_variables_win_and_empty_ones_are_unset() {
    let proxy =
        |variables: &[(&str, &str)]| environment(variables).forward_proxy("a.example", 443).unwrap().map(|proxy| proxy.to_string());
    assert_eq!(proxy(&[]), None);
    assert_eq!(proxy(&[("HTTP_PROXY", "http://p"), ("ALL_PROXY", "http://p")]), None, "Go reads neither for https");
    assert_eq!(proxy(&[("HTTPS_PROXY", "http://one"), ("https_proxy", "http://two")]).as_deref(), Some("http://one:80"));
    assert_eq!(proxy(&[("HTTPS_PROXY", ""), ("https_proxy", "http://two")]).as_deref(), Some("http://two:80"));
    assert_eq!(proxy(&[("HTTPS_PROXY", "http://one"), ("NO_PROXY", ""), ("no_proxy", "a.example")]), None);
    assert_eq!(proxy(&[("HTTPS_PROXY", "one:3128")]).as_deref(), Some("http://one:3128"));
    assert_eq!(proxy(&[("HTTPS_PROXY", "10.0.0.1")]).as_deref(), Some("http://10.0.0.1:80"));
    let unknown = environment(&[("HTTPS_PROXY", "ftp://me:s3cret@one")]);
    assert_eq!(unknown.forward_proxy("a.example", 443), Err(AddressError::UnknownScheme));
    assert!(!format!("{unknown:?}").contains("s3cret"));
}

fn environment(variables: &[(&str, &str)]) -> ProxyEnvironment {
    ProxyEnvironment::read(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value)))
}

/// Checks that with this `no_proxy` value, the hosts in `direct` need no proxy, and those in `proxied` do. Each is `host:port`.
#[track_caller]
fn check(no_proxy: &str, direct: &[&str], proxied: &[&str]) {
    let environment = environment(&[("HTTPS_PROXY", "http://proxy"), ("NO_PROXY", no_proxy)]);
    for (targets, expected) in [(direct, false), (proxied, true)] {
        for target in targets {
            let (host, port) = target.rsplit_once(':').unwrap();
            let proxy = environment.forward_proxy(host, port.parse().unwrap()).unwrap();
            assert_eq!(proxy.is_some(), expected, "{target} with NO_PROXY={no_proxy}");
        }
    }
}
