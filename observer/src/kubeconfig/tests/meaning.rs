//! Tests of the values read from valid kubeconfigs.

use rustls_pki_types::ServerName;

use super::fixture::{Home, PAIR, certificate_data, config, key_data};
use crate::kubeconfig::{BearerToken, CaSource, Secret, Selected};

const SERVER: &str = "server: 'https://a:6443'";

#[test]
fn names_are_those_of_the_current_context() {
    let current = current(SERVER, "");
    assert_eq!((current.context.as_str(), current.cluster.as_str(), current.user.as_deref()), ("dev", "c", Some("u")));
}

#[test]
fn namespace_is_that_of_the_context() {
    assert_eq!(current(SERVER, "").namespace, None);
    for (written, expected) in [("shop", Some("shop")), ("''", None), ("null", None)] {
        let text = config(SERVER, "").replace(", user: u", &format!(", user: u, namespace: {written}"));
        assert_eq!(Home::with_config(&text).current().namespace.as_deref(), expected, "{written}");
    }
}

#[test]
fn a_context_without_a_user_is_anonymous() {
    for user in ["", ", user: ''", ", user: null"] {
        let text = config(SERVER, "token: t").replace(", user: u", user);
        let current = Home::with_config(&text).current();
        assert_eq!((current.user, current.bearer_token), (None, BearerToken::None));
    }
}

#[test]
fn server_addresses_of_every_form_are_parsed() {
    for (server, host, port, path_prefix) in [
        ("https://api.example:6443", "api.example", 6443, ""),
        ("https://api.example", "api.example", 443, ""),
        ("https://api.example:", "api.example", 443, ""),
        ("https://api.example/", "api.example", 443, ""),
        ("HTTPS://10.0.0.1:6443", "10.0.0.1", 6443, ""),
        ("https://[2001:db8::1]:6443", "2001:db8::1", 6443, ""),
        ("https://[::1]", "::1", 443, ""),
        ("https://rancher.example/k8s/clusters/c-1", "rancher.example", 443, "/k8s/clusters/c-1"),
        ("https://a:1/k8s/?x=y#z", "a", 1, "/k8s/"),
    ] {
        let upstream = current(&format!("server: '{server}'"), "").upstream;
        assert_eq!((upstream.host.as_str(), upstream.port, upstream.path_prefix.as_str()), (host, port, path_prefix), "{server}");
    }
}

#[test]
fn address_without_a_scheme_is_https_with_tls_settings() {
    let certificate = format!("client-certificate-data: {}, client-key-data: {}", certificate_data(), key_data());
    for (cluster, user) in [("certificate-authority: pair.crt", ""), ("insecure-skip-tls-verify: true", ""), ("", &*certificate)] {
        let upstream = current(&format!("server: '10.0.0.1:6443/x', {cluster}"), user).upstream;
        assert_eq!((upstream.host.as_str(), upstream.port, upstream.path_prefix.as_str()), ("10.0.0.1", 6443, "/x"));
    }
}

#[test]
fn tls_server_name_overrides_the_host() {
    let named = current("server: 'https://10.0.0.1', tls-server-name: kubernetes", "").upstream;
    assert_eq!(named.server_name, ServerName::try_from("kubernetes").unwrap());
    assert_eq!(named.tls_server_name.as_deref(), Some("kubernetes"));
    let unnamed = current("server: 'https://10.0.0.1', tls-server-name: ''", "").upstream;
    assert_eq!(unnamed.server_name, ServerName::try_from("10.0.0.1").unwrap());
    assert_eq!(unnamed.tls_server_name, None);
}

#[test]
fn ca_data_outranks_ca_file_and_system_roots() {
    let data = format!("certificate-authority-data: {}", certificate_data());
    let both = current(&format!("{SERVER}, certificate-authority: absent, {data}"), "");
    assert_eq!(both.ca, CaSource::Data(PAIR.0.clone().into_bytes()));

    let home = Home::with_config(&config(&format!("{SERVER}, certificate-authority: pair.crt"), ""));
    let (path, pem) = (home.path().join("pair.crt"), PAIR.0.clone().into_bytes());
    assert_eq!(home.current().ca, CaSource::File { path, pem });

    let neither = current(&format!("{SERVER}, certificate-authority: '', certificate-authority-data:"), "");
    assert_eq!(neither.ca, CaSource::SystemRoots);
}

#[test]
fn client_certificates_come_from_data_or_files_or_one_of_each() {
    let (certificate, key) = (certificate_data(), key_data());
    for user in [
        "client-certificate: pair.crt, client-key: pair.key".to_owned(),
        format!("client-certificate-data: {certificate}, client-key-data: {key}"),
        format!("client-certificate-data: {certificate}, client-key: pair.key"),
    ] {
        let found = current(SERVER, &user).client_certificate.expect("a client certificate");
        assert_eq!(found.certificate_pem, PAIR.0.as_bytes());
        assert_eq!(found.key_pem.expose(), PAIR.1.as_bytes());
    }
    assert_eq!(current(SERVER, "client-key: absent").client_certificate, None, "a key alone means nothing");
}

#[test]
fn base64_over_several_lines_is_read() {
    let folded =
        certificate_data().as_bytes().chunks(60).map(|line| String::from_utf8_lossy(line).into_owned() + "\\n").collect::<String>();
    assert!(matches!(current(&format!("{SERVER}, certificate-authority-data: \"{folded}\""), "").ca, CaSource::Data(_)));
}

#[test]
fn a_token_file_outranks_a_token() {
    assert_eq!(current(SERVER, "token: t").bearer_token, BearerToken::Inline(Secret::new("t")));
    let home = Home::with_config(&config(SERVER, "token: t, tokenFile: folder/../rotating"));
    assert_eq!(home.current().bearer_token, BearerToken::File(home.path().join("rotating")));
}

#[test]
fn exec_plugins_auth_providers_and_passwords_are_recognized() {
    let plain = current(SERVER, "username: admin, password: p");
    let basic_auth = plain.basic_auth.expect("a name and a password");
    assert_eq!((basic_auth.username.as_str(), basic_auth.password.expose()), ("admin", &b"p"[..]));
    assert!(plain.exec_plugin.is_none() && !plain.auth_provider);

    let exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Never, x: y}";
    let plugin = current(SERVER, exec).exec_plugin.expect("a plugin");
    assert_eq!((plugin.command.as_str(), plugin.arguments.len()), ("aws", 0));
    assert_eq!(plugin.cluster, *serde_json::json!({"server": "https://a:6443"}).as_object().expect("an object"));
    assert!(current(SERVER, "auth-provider: {name: oidc, config: {a: b}}").auth_provider);
}

#[test]
fn invalid_entries_of_other_contexts_are_ignored() {
    let text = config(SERVER, "").replace("users: [", "users: [{name: x, user: {token: 5, client-key: /absent}}, {name: empty}, ")
        + "extensions: 5\n";
    assert_eq!(Home::with_config(&text).current().user.as_deref(), Some("u"));
}

#[test]
fn debug_output_shows_no_secret() {
    let user =
        format!("token: s3cret, username: me, password: s3cret, client-certificate: pair.crt, client-key-data: {}", key_data());
    let home = Home::with_config(&config(SERVER, &user));
    let loaded = home.load("config").unwrap();
    let shown = format!("{loaded:?} {:?}", loaded.current().unwrap());
    let key_line = PAIR.1.lines().nth(1).expect("a line of the key");
    assert!(
        !shown.contains("s3cret") && !shown.contains(key_line) && !shown.contains(&format!("{:?}", PAIR.1.as_bytes())),
        "{shown}"
    );
}

#[track_caller]
fn current(cluster: &str, user: &str) -> Selected {
    Home::with_config(&config(cluster, user)).current()
}
