//! Tests of finding and merging kubeconfig files.

use expect_test::{Expect, expect};

use super::fixture::{Home, config};
use crate::kubeconfig::{ClientEndpoint, Kubeconfig, Via, Way};

const SERVER: &str = "server: 'https://a:6443'";

#[test]
fn home_kubeconfig_is_read_without_the_variable() {
    let home = Home::new();
    let file = home.write(".kube/config", config(SERVER, ""));
    for unset in [None, Some("")] {
        let loaded = Kubeconfig::load(&home.environment(unset)).unwrap();
        assert_eq!(loaded.files(), [file.as_path()]);
    }
}

#[test]
fn repeated_and_empty_path_entries_are_ignored() {
    let home = Home::with_config(&config(SERVER, ""));
    assert_eq!(home.load(":config:config:").unwrap().files(), [home.path().join("config")]);
}

#[test]
fn missing_files_are_skipped_while_one_exists() {
    let home = Home::with_config(&config(SERVER, ""));
    assert_eq!(home.load("absent:config:gone").unwrap().files(), [home.path().join("config")]);
}

#[test]
fn first_file_with_an_entry_wins_it_entirely() {
    let home = Home::new();
    home.write("one", "current-context: ''\nclusters: [{name: c, cluster: {server: 'https://one'}}]\nusers: null\n");
    home.write("two", config("server: 'https://two', tls-server-name: two", "token: two"));
    home.write("three", "current-context: other\nusers: [{name: u, user: {token: three}}, {name: v, user: {}}]\n");
    merged(
        &home,
        "one:two:three",
        &expect![[r#"
            {
              "current-context": "dev",
              "clusters": [
                {
                  "name": "c",
                  "cluster": {
                    "server": "https://127.0.0.1:1234",
                    "certificate-authority-data": "Q0E="
                  }
                }
              ],
              "users": [
                {
                  "name": "u",
                  "user": {
                    "token": "two"
                  }
                },
                {
                  "name": "v",
                  "user": {}
                }
              ],
              "apiVersion": "v1",
              "kind": "Config",
              "contexts": [
                {
                  "name": "dev",
                  "context": {
                    "cluster": "c",
                    "user": "u"
                  }
                }
              ]
            }
        "#]],
    );
}

#[test]
fn preferences_and_extensions_are_merged_value_by_value() {
    let home = Home::with_config(&config(SERVER, ""));
    home.write("one", "preferences: {colors: true}\nextensions: [{name: a, extension: 1}]\nmine: [1]\n");
    home.write(
        "two",
        "preferences: {colors: false, x: 2}\nextensions: [{name: a, extension: 2}, {name: b, extension: 3}]\nmine: [2]\n",
    );
    let loaded = home.load("one:two:config").unwrap();
    let tree = loaded.to_value();
    assert_eq!(tree["preferences"], serde_json::json!({"colors": true, "x": 2}));
    assert_eq!(tree["extensions"], serde_json::json!([{"name": "a", "extension": 1}, {"name": "b", "extension": 3}]));
    assert_eq!(tree["mine"], serde_json::json!([1]));
}

#[test]
fn every_yaml_document_of_a_file_is_read() {
    let text = config(SERVER, "").replace("clusters:", "---\nclusters:").replace("users:", "---\nusers:");
    assert_eq!(Home::with_config(&text).current().upstream.host, "a");
}

#[test]
fn yaml_is_read_as_client_go_reads_it() {
    let text = "
base: &base {server: 'https://anchored', tls-server-name: name}
current-context: dev
contexts: [{name: dev, context: {cluster: c}}]
clusters:
- name: c
  cluster:
    <<: *base
    insecure-skip-tls-verify: no
    insecure-skip-tls-verify: yes
";
    let current = Home::with_config(text).current();
    assert_eq!(current.upstream.host, "anchored");
    assert!(current.insecure_skip_tls_verify, "`yes` is true, and the last of two equal keys counts");
}

#[test]
fn text_with_a_byte_order_mark_is_read() {
    let text = config(SERVER, "");
    let units = || std::iter::once(0xFEFF).chain(text.encode_utf16());
    let home = Home::new();
    for bytes in [units().flat_map(u16::to_le_bytes).collect::<Vec<_>>(), units().flat_map(u16::to_be_bytes).collect()] {
        home.write("config", bytes);
        assert_eq!(home.current().upstream.host, "a");
    }
    home.write("config", format!("\u{feff}{text}"));
    assert_eq!(home.current().upstream.host, "a");
}

#[track_caller]
fn merged(home: &Home, kubeconfig: &str, expected: &Expect) {
    let loaded = home.load(kubeconfig).unwrap();
    let endpoint = ClientEndpoint {
        listener: ([127, 0, 0, 1], 1234).into(),
        via: Via::Server,
        ca_pem: "CA",
        client_certificate: None,
        exec_plugin: None,
    };
    let pairs = loaded.pairs().unwrap();
    expected.assert_eq(&loaded.client_copy(&[Way { pair: &pairs.served[0], endpoint }]).text);
}
