//! Tests of the clients' copy of a kubeconfig.

use expect_test::{Expect, expect, expect_file};
use kube::config::Kubeconfig as Typed;

use super::fixture::{Home, certificate_data, config, key_data};
use crate::kubeconfig::{ClientCertificatePair, ClientEndpoint, PluginInPlace, Via, Way};

/// A kubeconfig with one entry of each kind. The expected copy is in a file in the same folder.
const WITH_EVERYTHING: &str = include_str!("with_everything.yaml");
const PAIR: ClientCertificatePair<'_> = ClientCertificatePair { certificate_pem: "OUR CERTIFICATE", key_pem: "OUR KEY" };

#[test]
fn copy_changes_only_connection_and_credential_fields() {
    expect_file!["with_everything.copy.json"].assert_eq(&copy(WITH_EVERYTHING, Some(PAIR)));
}

#[test]
fn certificate_data_is_replaced_in_place() {
    let text = config(
        "server: 'https://a', certificate-authority-data: CRT, x: 1",
        "client-key-data: KEY, x: 2, client-certificate-data: CRT",
    );
    let text = text.replace("CRT", &certificate_data()).replace("KEY", &key_data());
    copies(
        &text,
        Some(PAIR),
        &expect![[r#"
        {
          "apiVersion": "v1",
          "kind": "Config",
          "current-context": "dev",
          "contexts": [
            {
              "name": "dev",
              "context": {
                "cluster": "c",
                "user": "u"
              }
            }
          ],
          "clusters": [
            {
              "name": "c",
              "cluster": {
                "server": "https://127.0.0.1:40001",
                "certificate-authority-data": "Q0E=",
                "x": 1
              }
            }
          ],
          "users": [
            {
              "name": "u",
              "user": {
                "client-key-data": "T1VSIEtFWQ==",
                "x": 2,
                "client-certificate-data": "T1VSIENFUlRJRklDQVRF"
              }
            }
          ]
        }
    "#]],
    );
}

#[test]
fn a_user_without_a_certificate_does_not_get_one() {
    copies(
        &config("server: 'https://a'", "token: t"),
        Some(PAIR),
        &expect![[r#"
        {
          "apiVersion": "v1",
          "kind": "Config",
          "current-context": "dev",
          "contexts": [
            {
              "name": "dev",
              "context": {
                "cluster": "c",
                "user": "u"
              }
            }
          ],
          "clusters": [
            {
              "name": "c",
              "cluster": {
                "server": "https://127.0.0.1:40001",
                "certificate-authority-data": "Q0E="
              }
            }
          ],
          "users": [
            {
              "name": "u",
              "user": {
                "token": "t"
              }
            }
          ]
        }
    "#]],
    );
}

#[test]
fn bare_exec_commands_are_unchanged() {
    let copy = copy(&config("server: 'https://a'", "exec: {command: aws, interactiveMode: Never}"), None);
    assert_eq!(typed(&copy).auth_infos[0].auth_info.as_ref().unwrap().exec.as_ref().unwrap().command.as_deref(), Some("aws"));
}

#[test]
fn server_is_unchanged_when_proxy_url_is_used() {
    let cluster = "server: 'https://a:6443/x', tls-server-name: b, proxy-url: 'http://theirs', insecure-skip-tls-verify: true";
    let loaded = Home::with_config(&config(cluster, "token: t")).load("config").unwrap();
    let pairs = loaded.pairs().unwrap();
    let listener = ([127, 0, 0, 1], 40_001).into();
    let endpoint = ClientEndpoint { listener, via: Via::ProxyUrl, ca_pem: "CA", client_certificate: None, exec_plugin: None };
    let copy = loaded.client_copy(&[Way { pair: &pairs.served[0], endpoint }]).text;
    let cluster = typed(&copy).clusters.remove(0).cluster.unwrap();
    assert_eq!((cluster.server.as_deref(), cluster.tls_server_name.as_deref()), (Some("https://a:6443/x"), Some("b")));
    assert_eq!(cluster.proxy_url.as_deref(), Some("http://127.0.0.1:40001"));
    assert_eq!((cluster.certificate_authority_data.as_deref(), cluster.insecure_skip_tls_verify), (Some("Q0E="), None));
}

#[test]
fn exec_plugin_command_is_replaced_and_other_fields_kept() {
    let exec =
        "exec: {command: bin/aws, args: [s3cret], env: [{name: A, value: b}], interactiveMode: Never, provideClusterInfo: true}";
    let home = Home::with_config(&config("server: 'https://a'", exec));
    let loaded = home.load("config").unwrap();
    let pairs = loaded.pairs().unwrap();
    let plugin = PluginInPlace { command: "/bin/watchtap", arguments: &["credential", "--"] };
    let listener = ([127, 0, 0, 1], 40_001).into();
    let endpoint = ClientEndpoint { listener, via: Via::Server, ca_pem: "CA", client_certificate: None, exec_plugin: Some(plugin) };
    let copy = loaded.client_copy(&[Way { pair: &pairs.served[0], endpoint }]).text;
    let user = typed(&copy).auth_infos.remove(0).auth_info.unwrap().exec.unwrap();
    assert_eq!(user.command.as_deref(), Some("/bin/watchtap"));
    assert_eq!(user.args.unwrap(), ["credential", "--", "u"]);
    assert_eq!((user.env.unwrap().len(), user.provide_cluster_info), (1, true));
    let original = pairs.served[0].selected.exec_plugin.as_ref().unwrap();
    assert_eq!(
        (original.command.clone(), original.arguments.clone()),
        (home.path().join("bin/aws").display().to_string(), vec!["s3cret".to_owned()])
    );
    assert!(!copy.contains("s3cret") && !format!("{original:?}").contains("s3cret"));
}

#[test]
fn client_certificate_without_replacement_is_left_out() {
    let copy = copy(&config("server: 'https://a'", "client-certificate: pair.crt, client-key: pair.key, as: x"), None);
    assert!(!copy.contains("client-"), "{copy}");
}

#[test]
fn ambiguous_yaml_strings_survive_the_copy() {
    for password in
        ["yes", "~", "1e3", "0x1F", "a: b #c", "*x", "'\"\\", "a\tb\nc", "\u{7f}\u{85}\u{a0}", "\u{2028}\u{feff}", "日本🦀", " x "]
    {
        let quoted = serde_json::to_string(password).unwrap().replace('\u{7f}', "\\u007f").replace('\u{feff}', "\\ufeff");
        let copy = copy(&config("server: 'https://a'", &format!("username: x, password: {quoted}, as: {quoted}")), None);
        let user = typed(&copy).auth_infos.remove(0).auth_info.unwrap();
        assert_eq!(user.impersonate.as_deref(), Some(password));
    }
}

#[test]
fn values_longer_than_yaml_simple_keys_are_read_back() {
    let long = "x".repeat(100_000);
    let copy = copy(&config("server: 'https://a'", &format!("as: {long}")), None);
    assert_eq!(typed(&copy).auth_infos[0].auth_info.as_ref().unwrap().impersonate.as_deref(), Some(long.as_str()));
}

#[test]
fn reloaded_copy_differs_only_in_the_server_address() {
    let home = Home::with_config(&config("server: 'https://a/prefix', certificate-authority: pair.crt", "tokenFile: token"));
    let before = home.current();
    home.write("config", copy_in(&home, None).replace("Q0E=", &certificate_data()));
    let after = home.current();
    assert_eq!((after.context, after.cluster, after.user), (before.context, before.cluster, before.user));
    assert_eq!(after.bearer_token, before.bearer_token);
    assert_eq!((after.upstream.host.as_str(), after.upstream.port), ("127.0.0.1", 40_001));
    assert_eq!(after.upstream.path_prefix, "/prefix");
}

#[track_caller]
fn copies(kubeconfig: &str, pair: Option<ClientCertificatePair<'_>>, expected: &Expect) {
    expected.assert_eq(&copy(kubeconfig, pair));
}

#[track_caller]
fn copy(kubeconfig: &str, pair: Option<ClientCertificatePair<'_>>) -> String {
    let home = Home::with_config(kubeconfig);
    home.anonymous(&copy_in(&home, pair))
}

#[track_caller]
fn copy_in(home: &Home, client_certificate: Option<ClientCertificatePair<'_>>) -> String {
    let loaded = home.load("config").unwrap();
    let endpoint = ClientEndpoint {
        listener: ([127, 0, 0, 1], 40_001).into(),
        via: Via::Server,
        ca_pem: "CA",
        client_certificate,
        exec_plugin: None,
    };
    let pairs = loaded.pairs().unwrap();
    loaded.client_copy(&[Way { pair: &pairs.served[0], endpoint }]).text
}

#[track_caller]
fn typed(copy: &str) -> Typed {
    Typed::from_yaml(copy).expect("kube-rs reads it")
}
