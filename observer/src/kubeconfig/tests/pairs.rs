//! Tests of the pairs of all contexts, and of the listeners to which these contexts lead in the copy.

use std::ops::Range;

use serde_json::Value;

use super::fixture::{Home, certificate_data, key_data};
use crate::kubeconfig::{ClientCertificatePair, ClientCopy, ClientEndpoint, Kubeconfig, MAX_PAIRS, Pairs, ServerTrust, Via, Way};

const CONTEXTS: &str = "
current-context: b
contexts:
- {name: a, context: {cluster: one, user: cert}}
- {name: b, context: {cluster: one, user: token, namespace: shop}}
- {name: c, context: {cluster: one, user: token, namespace: other}}
- {name: d, context: {cluster: two, user: cert}}
- {name: e, context: {cluster: two}}
clusters:
- {name: one, cluster: {server: 'https://one:6443', x-unknown: 1}}
- {name: two, cluster: {server: 'https://two:6443/prefix'}}
users:
- {name: cert, user: {client-certificate-data: CRT, client-key-data: KEY}}
- {name: token, user: {token: t}}
";

#[test]
fn contexts_of_the_same_cluster_and_user_are_one_pair() {
    let pairs = home(CONTEXTS).load("config").unwrap().pairs().unwrap();
    assert_eq!(contexts(&pairs), ["b c", "a", "d", "e"], "that of the current context first");
    assert_eq!(pairs.left_out, []);
}

#[test]
fn every_context_leads_to_the_listener_of_its_pair() {
    let copy = copy(&home(CONTEXTS));
    let led: Vec<_> = ["a", "b", "c", "d", "e"].iter().map(|context| server(&copy, context)).collect();
    assert_eq!(
        led,
        [
            "https://127.0.0.1:2",
            "https://127.0.0.1:1",
            "https://127.0.0.1:1",
            "https://127.0.0.1:3/prefix",
            "https://127.0.0.1:4/prefix"
        ]
    );
    assert_eq!(entry(&copy, "contexts", "c")["context"]["namespace"], "other");
    assert_eq!(cluster(&copy, "a")["x-unknown"], 1, "what nobody knows is in each copy of the entry");
    assert_eq!(entry(&copy, "contexts", "a")["context"]["user"], "cert", "users keep their names");
}

#[test]
fn unusable_context_is_reported_and_left_unchanged() {
    let bad = [
        ("{cluster: gone, user: token}", "there is no cluster \"gone\""),
        ("{cluster: one, user: gone}", "there is no user \"gone\""),
        ("{cluster: one, user: 5}", "expected a string but found a number"),
        ("{cluster: plain, user: token}", "plain http"),
        ("{cluster: one, user: unreadable}", "cannot read"),
        ("{cluster: garbled, user: cert}", "not base64"),
    ];
    for (context, why) in bad {
        let home = home(&(CONTEXTS.replace("- {name: c, context: {cluster: one, user: token, namespace: other}}", &format!("- {{name: c, context: {context}}}"))
            .replace("clusters:\n", "clusters:\n- {name: plain, cluster: {server: 'http://plain'}}\n- {name: garbled, cluster: {server: 'https://g', certificate-authority-data: '%'}}\n")
            .replace("users:\n", "users:\n- {name: unreadable, user: {client-certificate: /absent}}\n")));
        let pairs = home.load("config").unwrap().pairs().unwrap();
        let [left_out] = pairs.left_out.as_slice() else { panic!("{context}: {:?}", pairs.left_out) };
        assert_eq!(left_out.contexts, ["c"]);
        assert!(left_out.why.contains(why), "{}", left_out.why);
        let (before, after) = (before(&home), copy(&home));
        for list in ["cluster", "user"] {
            let name = |tree: &Value| entry(tree, "contexts", "c")["context"][list].clone();
            let contents = |tree: &Value| named(tree, &format!("{list}s"), name(tree).as_str().unwrap_or_default())[list].clone();
            assert_eq!(contents(&before), contents(&after), "{context}");
        }
        assert_eq!(server(&after, "b"), "https://127.0.0.1:1", "the others are led all the same");
    }
}

#[test]
fn bad_entry_of_several_contexts_is_reported_once() {
    let text = CONTEXTS.replace("cluster: two", "cluster: gone");
    let pairs = home(&text.replace("{cluster: gone}", "{cluster: gone, user: cert}")).load("config").unwrap().pairs().unwrap();
    assert_eq!(pairs.left_out.len(), 1, "{:?}", pairs.left_out);
    assert_eq!(pairs.left_out[0].contexts, ["d", "e"]);
}

#[test]
fn pairs_beyond_the_limit_are_left_out() {
    let contexts = numbered(0..200, |number| format!("- {{name: n{number}, context: {{cluster: one, user: u{number}}}}}\n"));
    let users = numbered(0..200, |number| format!("- {{name: u{number}, user: {{token: t}}}}\n"));
    let text = CONTEXTS.replace("contexts:\n", &format!("contexts:\n{contexts}")).replace("users:\n", &format!("users:\n{users}"));
    let home = home(&text);
    let pairs = home.load("config").unwrap().pairs().unwrap();
    assert_eq!(pairs.served.len(), MAX_PAIRS);
    let [left_out] = pairs.left_out.as_slice() else { panic!("{:?}", pairs.left_out) };
    assert!(left_out.why.contains("--context"), "{}", left_out.why);
    assert_eq!(left_out.contexts.len() + pairs.served.iter().map(|pair| pair.contexts.len()).sum::<usize>(), 205);
    assert_eq!(server(&copy(&home), "n199"), "https://one:6443", "as it was");
}

#[test]
fn ten_thousand_contexts_of_one_pair_need_one_listener() {
    let contexts = numbered(0..10_000, |number| format!("- {{name: n{number}, context: {{cluster: one, user: token}}}}\n"));
    let pairs = home(&CONTEXTS.replace("contexts:\n", &format!("contexts:\n{contexts}"))).load("config").unwrap().pairs().unwrap();
    assert_eq!(pairs.served[0].contexts.len(), 10_002);
}

#[test]
fn users_with_an_auth_provider_stay_in_their_file() {
    let home = home(CONTEXTS);
    let theirs =
        home.write("theirs", "users: [{name: token, user: {auth-provider: {name: oidc, config: {refresh-token: s3cret}}}}]\n");
    let loaded = home.load("theirs:config").unwrap();
    let ClientCopy { text, beside } = client_copy(&loaded);
    assert_eq!(beside, [theirs]);
    assert!(!text.contains("s3cret"), "{text}");
    let tree: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(named(&tree, "users", "token"), Value::Null);
    assert_eq!(entry(&tree, "contexts", "b")["context"]["user"], "token");
}

#[test]
fn chosen_context_becomes_current_in_the_copy() {
    let loaded = home(CONTEXTS).load("config").unwrap().with_current_context("d", "--context");
    assert_eq!(contexts(&loaded.pairs().unwrap()), ["d", "a", "b c", "e"]);
    let tree: Value = serde_json::from_str(&client_copy(&loaded).text).unwrap();
    assert_eq!(tree["current-context"], "d");
    let error = loaded.with_current_context("none", "--context").pairs().unwrap_err().to_string();
    assert!(error.starts_with("--context: there is no context \"none\"") && error.contains("\"a\""), "{error}");
}

#[test]
fn server_without_a_kubeconfig_is_attributed_to_its_flag() {
    for (url, trust, expected) in [
        ("http://a", ServerTrust::SystemRoots, "--upstream: server: "),
        ("https://", ServerTrust::SystemRoots, "--upstream: server: "),
        (
            "https://a",
            ServerTrust::Authority("/absent/ca.crt".into()),
            "--upstream: certificate-authority: cannot read /absent/ca.crt",
        ),
    ] {
        let error = Kubeconfig::of_server(url, &trust, "--upstream").and_then(|made| made.pairs()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let made = Kubeconfig::of_server("https://a/prefix", &ServerTrust::Anybody, "--upstream").unwrap();
    let tree: Value = serde_json::from_str(&client_copy(&made).text).unwrap();
    assert_eq!(server(&tree, tree["current-context"].as_str().unwrap()), "https://127.0.0.1:1/prefix");
}

fn numbered(numbers: Range<usize>, line: impl Fn(usize) -> String) -> String {
    numbers.map(line).collect()
}

fn home(text: &str) -> Home {
    Home::with_config(&text.replace("CRT", &certificate_data()).replace("KEY", &key_data()))
}

fn contexts(pairs: &Pairs) -> Vec<String> {
    pairs.served.iter().map(|pair| pair.contexts.join(" ")).collect()
}

fn before(home: &Home) -> Value {
    home.load("config").unwrap().to_value()
}

fn copy(home: &Home) -> Value {
    serde_json::from_str(&client_copy(&home.load("config").unwrap()).text).unwrap()
}

/// Makes the copy, with listeners on the ports 1, 2, … in the order of the pairs.
fn client_copy(loaded: &Kubeconfig) -> ClientCopy {
    let pairs = loaded.pairs().unwrap();
    let ours = ClientCertificatePair { certificate_pem: "OUR CERTIFICATE", key_pem: "OUR KEY" };
    let ways = pairs.served.iter().zip(1..).map(|(pair, port)| {
        let client_certificate = pair.selected.client_certificate.is_some().then_some(ours);
        Way {
            pair,
            endpoint: ClientEndpoint {
                listener: ([127, 0, 0, 1], port).into(),
                via: Via::Server,
                ca_pem: "CA",
                client_certificate,
                exec_plugin: None,
            },
        }
    });
    loaded.client_copy(&ways.collect::<Vec<_>>())
}

fn server(tree: &Value, context: &str) -> String {
    cluster(tree, context)["server"].as_str().unwrap().to_owned()
}

fn cluster(tree: &Value, context: &str) -> Value {
    entry(tree, "clusters", entry(tree, "contexts", context)["context"]["cluster"].as_str().unwrap())["cluster"].clone()
}

#[track_caller]
fn entry(tree: &Value, list: &str, name: &str) -> Value {
    let entry = named(tree, list, name);
    assert!(entry.is_object(), "{name} is in {list}");
    entry
}

fn named(tree: &Value, list: &str, name: &str) -> Value {
    tree[list].as_array().unwrap().iter().find(|entry| entry["name"] == name).cloned().unwrap_or_default()
}
