//! Invariants of kubeconfigs. The client's copy of a usable kubeconfig has the same meaning, but leads to the listeners. Nothing
//! else in it is lost or changed.
//!
//! The input is the contents of the kubeconfig file. Its folder has a certificate `pair.crt` and its key `pair.key`, which the file
//! may name.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::{Map, Value};
use tempfile::TempDir;
use watchtap::kubeconfig::{
    ClientCertificatePair, ClientCopy, ClientEndpoint, Environment, Error, Kubeconfig, Pairs, PluginInPlace, Via, Way,
};

/// The fields of `cluster`, `user` and `exec` entries that the copy may change.
const CHANGED_IN_CLUSTERS: [&str; 6] =
    ["server", "certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify", "tls-server-name", "proxy-url"];
const CHANGED_IN_USERS: [&str; 5] = ["client-certificate", "client-certificate-data", "client-key", "client-key-data", "exec"];

/// A certificate and its private key, as PEM text.
static PAIR: LazyLock<(String, String)> = LazyLock::new(|| {
    let pair = rcgen::generate_simple_self_signed(["kubernetes".to_owned()]).expect("a certificate can be made");
    (pair.cert.pem(), pair.signing_key.serialize_pem())
});

/// The folder that contains the kubeconfig.
static HOME: LazyLock<TempDir> = LazyLock::new(|| {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    for (name, pem) in [("pair.crt", &PAIR.0), ("pair.key", &PAIR.1)] {
        fs::write(home.path().join(name), pem).expect("the folder can be written to");
    }
    home
});

/// Reads the kubeconfig, makes the client's copy, and reads and copies that again.
pub fn check(input: &[u8]) {
    let original = write("config", input);
    let Ok(kubeconfig) = load(&[original]) else { return };
    let untouched = kubeconfig.client_copy(&[]);
    assert_eq!(copied_again(&untouched.text, &untouched.beside).text, untouched.text, "a copy of the copy is another");
    let Ok(pairs) = kubeconfig.pairs() else { return };
    for via in [Via::Server, Via::ProxyUrl] {
        check_led(&kubeconfig, &pairs, via, &untouched.text);
    }
}

/// Checks the copy in which each pair's contexts lead to their own listener.
fn check_led(kubeconfig: &Kubeconfig, pairs: &Pairs, via: Via, untouched: &str) {
    let ways: Vec<Way<'_>> = (0..).zip(&pairs.served).map(|(number, pair)| Way { pair, endpoint: endpoint(number, via) }).collect();
    let copy = kubeconfig.client_copy(&ways);
    let (before, after): (Value, Value) = (parse(untouched), parse(&copy.text));
    assert_keeps(&before, &after);

    let files: Vec<PathBuf> = [write("copy", copy.text.as_bytes())].into_iter().chain(copy.beside).collect();
    let again = load(&files).and_then(|copy| copy.pairs()).expect("the copy is as sound as the kubeconfig");
    for (number, pair) in (0..).zip(&pairs.served) {
        for context in &pair.contexts {
            let led = again.served.iter().find(|led| led.contexts.contains(context));
            let led = led.unwrap_or_else(|| panic!("{context:?} is not served in the copy: {:?}", again.left_out));
            let upstream = &led.selected.upstream;
            let expected = match via {
                Via::Server => (listener(number).ip().to_string(), listener(number).port()),
                Via::ProxyUrl => (pair.selected.upstream.host.clone(), pair.selected.upstream.port),
            };
            assert_eq!((upstream.host.clone(), upstream.port), expected, "{context:?}");
            assert_eq!(upstream.path_prefix, pair.selected.upstream.path_prefix, "{context:?}");
            assert_eq!(led.selected.user, pair.selected.user, "{context:?}");
            assert_eq!(led.selected.bearer_token, pair.selected.bearer_token, "{context:?}");
            assert_eq!(led.selected.basic_auth, pair.selected.basic_auth, "{context:?}");
        }
    }
}

/// Checks that everything else is unchanged.
fn assert_keeps(before: &Value, after: &Value) {
    let (Value::Object(before), Value::Object(after)) = (before, after) else { panic!("{before} became {after}") };
    for (key, value) in before {
        let (list, body, changed): (_, _, &[&str]) = match key.as_str() {
            "clusters" => ("clusters", "cluster", &CHANGED_IN_CLUSTERS),
            "users" => ("users", "user", &CHANGED_IN_USERS),
            "contexts" => ("contexts", "context", &["cluster", "user"]),
            _ => {
                assert_eq!(after.get(key), Some(value), "{key}");
                continue;
            }
        };
        let entries = |tree: &Map<String, Value>| tree.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
        let (one, other) = (entries(before), entries(after));
        assert!(one.len() <= other.len(), "an entry of {list} is lost");
        for (one, other) in one.iter().zip(other) {
            assert_eq!(without(one, body, changed), without(&other, body, changed), "an entry of {list}");
        }
    }
}

fn without(entry: &Value, body: &str, fields: &[&str]) -> Value {
    let mut entry = entry.clone();
    if let Some(body) = entry.get_mut(body).and_then(Value::as_object_mut) {
        body.retain(|field, _| !fields.contains(&field.as_str()));
    }
    entry
}

fn copied_again(text: &str, beside: &[PathBuf]) -> ClientCopy {
    assert!(beside.iter().all(|file| file.is_file()), "{beside:?}");
    let copy = load(&[write("untouched", text.as_bytes())]).unwrap_or_else(|error| panic!("{error} in {text}"));
    copy.client_copy(&[])
}

fn endpoint(number: u16, via: Via) -> ClientEndpoint<'static> {
    ClientEndpoint {
        listener: listener(number),
        via,
        ca_pem: &PAIR.0,
        client_certificate: Some(ClientCertificatePair { certificate_pem: &PAIR.0, key_pem: &PAIR.1 }),
        exec_plugin: Some(PluginInPlace { command: "/usr/bin/watchtap", arguments: &["credential"] }),
    }
}

fn listener(number: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 40_000 + number))
}

fn load(files: &[PathBuf]) -> Result<Kubeconfig, Error> {
    let kubeconfig = std::env::join_paths(files).expect("the temporary folder has no colon in its name");
    let home = HOME.path().to_owned();
    Kubeconfig::load(&Environment { kubeconfig: Some(kubeconfig), home: Some(home.clone()), working_directory: home })
}

fn write(name: &str, contents: &[u8]) -> PathBuf {
    let path = HOME.path().join(name);
    fs::write(&path, contents).expect("the folder can be written to");
    path
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the copy is JSON")
}
