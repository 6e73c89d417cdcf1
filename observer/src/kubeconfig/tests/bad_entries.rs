//! Tests of unusable kubeconfig entries: the error names the field and the remedy, and contains no secret.

use super::fixture::{Home, certificate_data, config, fails, refuses};

const SERVER: &str = "server: 'https://a:6443'";

#[test]
fn wrong_types_in_the_lists_are_refused() {
    refuses("clusters: 5", "~/config: clusters: expected a list but found a number");
    refuses("users: {name: u}", "~/config: users: expected a list but found fields");
    refuses("contexts: [5]", "~/config: contexts[0]: expected a name and its entry but found a number");
    refuses(
        "contexts: [{name: a}, {name: 2024}]",
        "~/config: contexts[1].name: expected a string but found a number; write it in quotes",
    );
    refuses("users: [{name: u, user: s3cret}]", "~/config: users[0].user: expected fields but found a string");
    refuses("current-context: 5", "~/config: current-context: expected a string but found a number; write it in quotes");
}

#[test]
fn wrong_types_in_the_current_context_are_refused() {
    refuses(
        &config("server: 5", ""),
        "~/config: clusters[0].cluster.server: expected a string but found a number; write it in quotes",
    );
    refuses(
        &config(&format!("{SERVER}, insecure-skip-tls-verify: 'true'"), ""),
        "~/config: clusters[0].cluster.insecure-skip-tls-verify: expected a boolean but found a string",
    );
    refuses(
        &config(SERVER, "token: 123456"),
        "~/config: users[0].user.token: expected a string but found a number; write it in quotes",
    );
    refuses(&config(SERVER, "as-groups: s3cret"), "~/config: users[0].user.as-groups: expected a sequence but found a string");
    refuses(&config(SERVER, "exec: {command: [s3cret]}"), "~/config: users[0].user.exec: expected a string in it");
    refuses(
        &config(SERVER, "exec: {command: x, interactiveMode: Sometimes}"),
        "~/config: users[0].user.exec: expected one of `Never`, `IfAvailable`, `Always` in it",
    );
    refuses(&config(SERVER, "auth-provider: {config: {}}"), "~/config: users[0].user.auth-provider: missing field `name`");
    refuses(
        &config(SERVER, "").replace("cluster: c", "cluster: [c]"),
        "~/config: contexts[0].context.cluster: expected a string but found a list",
    );
}

#[test]
fn missing_current_context_is_refused() {
    refuses(
        &config(SERVER, "").replace("current-context: dev", "current-context: ''"),
        r#"~/config: no current-context; choose one with `kubectl config use-context NAME` (there are "dev")"#,
    );
    refuses("kind: Config\n", "~/config: no current-context; choose one with `kubectl config use-context NAME` (there are none)");
    let many = (0..12).map(|number| format!("{{name: c{number}}}")).collect::<Vec<_>>().join(", ");
    refuses(
        &format!("contexts: [{many}]"),
        r#"~/config: no current-context; choose one with `kubectl config use-context NAME` (there are "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7" and 4 more)"#,
    );
}

#[test]
fn references_to_missing_entries_are_refused() {
    let sound = config(SERVER, "");
    refuses(
        &sound.replace("current-context: dev", "current-context: prod"),
        r#"~/config: current-context: there is no context "prod"; choose one with `kubectl config use-context NAME` (there are "dev")"#,
    );
    refuses(
        &sound.replace("cluster: c", "cluster: other"),
        r#"~/config: contexts[0].context.cluster: there is no cluster "other" in the kubeconfig; add it, or name another"#,
    );
    refuses(
        &sound.replace("user: u", "user: other"),
        r#"~/config: contexts[0].context.user: there is no user "other" in the kubeconfig; add it, or name another"#,
    );
    refuses(&sound.replace("cluster: c, ", ""), "~/config: contexts[0].context.cluster: missing; name one of the clusters");
    refuses(
        &sound.replace("cluster: c", "cluster: null"),
        "~/config: contexts[0].context.cluster: missing; name one of the clusters",
    );
}

#[test]
fn missing_entry_is_reported_with_the_file_naming_it() {
    let home = Home::with_config("clusters: []\n");
    home.write("two", config(SERVER, "").replace("user: u", "user: other"));
    fails(
        &home,
        "config:two",
        r#"~/two: contexts[0].context.user: there is no user "other" in the kubeconfig; add it, or name another"#,
    );
}

#[test]
fn unusable_addresses_are_refused() {
    refuses(
        &config("", ""),
        "~/config: clusters[0].cluster.server: missing; write the API server's address there, such as https://HOST:PORT",
    );
    refuses(
        &config("", "").replace("cluster: {}", "cluster: null"),
        "~/config: clusters[0].cluster.server: missing; write the API server's address there, such as https://HOST:PORT",
    );
    refuses(
        &config("server: ''", ""),
        "~/config: clusters[0].cluster.server: missing; write the API server's address there, such as https://HOST:PORT",
    );
    refuses(
        &config("server: 'http://localhost:8080'", ""),
        r#"~/config: clusters[0].cluster.server: cluster "c" uses plain http, and watchtap forwards TLS connections only; use the API server's https address"#,
    );
    refuses(
        &config("server: 'localhost:8080'", ""),
        r#"~/config: clusters[0].cluster.server: cluster "c" uses plain http, and watchtap forwards TLS connections only; use the API server's https address"#,
    );
    refuses(
        &config("server: 'unix:///run/api'", ""),
        r#"~/config: clusters[0].cluster.server: "unix" is not a scheme of an API server; write it as https://HOST:PORT"#,
    );
    refuses(
        &config("server: 'https://'", ""),
        "~/config: clusters[0].cluster.server: host and port are malformed (empty string); write it as https://HOST:PORT",
    );
    refuses(
        &config("server: 'https://a:99999'", ""),
        "~/config: clusters[0].cluster.server: the port is not a number from 1 to 65535; write it as https://HOST:PORT",
    );
    refuses(
        &config("server: 'https://a b'", ""),
        "~/config: clusters[0].cluster.server: host and port are malformed (invalid uri character); write it as https://HOST:PORT",
    );
    refuses(
        &config("server: 'https://me:s3cret@a'", ""),
        "~/config: clusters[0].cluster.server: a user name in the address is not supported; put it into the user entry; write it as https://HOST:PORT",
    );
    refuses(
        &config("server: 'https://a..b'", ""),
        "~/config: clusters[0].cluster.server: the host is neither a name nor an IP address; write it as https://HOST:PORT",
    );
    refuses(
        &config("server: 'https://a', tls-server-name: 'no name'", ""),
        "~/config: clusters[0].cluster.tls-server-name: expected a host name",
    );
    refuses(
        &config("server: 'https://a', proxy-url: 'ftp://me:s3cret@proxy:3128'", ""),
        "~/config: clusters[0].cluster.proxy-url: the scheme of a proxy must be http, https, socks5 or socks5h",
    );
}

#[test]
fn unusable_certificates_are_refused() {
    let certificate = format!("client-certificate-data: {}", certificate_data());
    refuses(
        &config(&format!("{SERVER}, certificate-authority: absent"), ""),
        "~/config: clusters[0].cluster.certificate-authority: cannot read ~/absent: No such file or directory (os error 2); correct the path or its permissions",
    );
    refuses(
        &config(&format!("{SERVER}, certificate-authority: ."), ""),
        "~/config: clusters[0].cluster.certificate-authority: cannot read ~: Is a directory (os error 21); correct the path or its permissions",
    );
    refuses(
        &config(&format!("{SERVER}, certificate-authority: pair.key"), ""),
        "~/config: clusters[0].cluster.certificate-authority: contains no certificate; it must be PEM text",
    );
    refuses(
        &config(&format!("{SERVER}, certificate-authority-data: '%%'"), ""),
        "~/config: clusters[0].cluster.certificate-authority-data: not base64; encode the PEM text with `base64 -w0 FILE`",
    );
    refuses(
        &config(&format!("{SERVER}, certificate-authority-data: aGVsbG8="), ""),
        "~/config: clusters[0].cluster.certificate-authority-data: contains no certificate; it must be PEM text",
    );
    refuses(
        &config(SERVER, "client-certificate: /absent, client-key: pair.key"),
        "~/config: users[0].user.client-certificate: cannot read /absent: No such file or directory (os error 2); correct the path or its permissions",
    );
    refuses(
        &config(SERVER, &format!("{certificate}, client-key: gone/x")),
        "~/config: users[0].user.client-key: cannot read ~/gone/x: No such file or directory (os error 2); correct the path or its permissions",
    );
    refuses(
        &config(SERVER, &certificate),
        "~/config: users[0].user.client-key: missing; a client certificate needs its key: name the file there, or the key itself in client-key-data",
    );
    refuses(
        &config(SERVER, &format!("{certificate}, client-key-data: s3cret!")),
        "~/config: users[0].user.client-key-data: not base64; encode the PEM text with `base64 -w0 FILE`",
    );
    refuses(
        &config(SERVER, &format!("{certificate}, client-key: pair.crt")),
        "~/config: users[0].user.client-key: contains no private key; it must be PEM text",
    );
}
