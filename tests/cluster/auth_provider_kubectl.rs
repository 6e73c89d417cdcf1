//! Tests of a user with an auth-provider, whose token kubectl refreshes: the new token works, and kubectl writes it to the user's
//! file.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use observer_tests::{Cluster, TokenEndpoint, kubectl, output_within, watchtap};
use serde_json::json;

const LIMIT: Duration = Duration::from_mins(1);
const WHOAMI: &str = r#"$K auth whoami -o 'jsonpath={.status.userInfo.username}{"\n"}'"#;
const USER: &str = "system:serviceaccount:default:refreshed";

#[test]
fn token_refreshed_by_kubectl_through_watchtap_reaches_the_users_file() {
    check(|| {
        let mut command = watchtap().unwrap();
        command.args(["exec", "--"]);
        command
    });
}

#[test]
fn kubectl_refreshes_the_same_token_without_watchtap() {
    check(|| Command::new("env"));
}

/// Runs kubectl twice within one run of the command `before`: the first refreshes the token, the second finds the new one.
#[track_caller]
fn check(before: impl Fn() -> Command) {
    let cluster = Cluster::shared().unwrap();
    let token = cluster.service_account_token("default", "refreshed").unwrap();
    let provider = TokenEndpoint::start(&token, "second-refresh-token").unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Clusters and user are in different files, so a client that writes to the wrong file is detected.
    let (clusters, users) = (folder.path().join("clusters"), folder.path().join("users"));
    let text = fs::read_to_string(cluster.kubeconfig_token().unwrap()).unwrap();
    fs::write(&clusters, text.replace("user: admin", "user: refreshing")).unwrap();
    let user = json!({"name": "refreshing", "user": {"auth-provider": {"name": "oidc", "config": {
        "idp-issuer-url": provider.issuer(), "client-id": "watchtap-tests", "client-secret": "secret",
        "id-token": expired_token(), "refresh-token": "first-refresh-token",
    }}}});
    fs::write(&users, json!({"apiVersion": "v1", "kind": "Config", "users": [user]}).to_string()).unwrap();
    let (clusters_text, files) = (fs::read(&clusters).unwrap(), std::env::join_paths([&clusters, &users]).unwrap());

    let mut command = before();
    command.args(["sh", "-c", &format!("{WHOAMI}; {WHOAMI}")]).env("KUBECONFIG", &files).env("HOME", folder.path());
    command.env("K", kubectl().expect("kubectl is on the PATH")).stdin(Stdio::null());
    let output = output_within(&mut command, LIMIT).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{USER}\n{USER}\n"), "{output:?}");

    let refreshed = provider.refreshed();
    assert!(refreshed.len() == 1 && refreshed[0].contains("refresh_token=first-refresh-token"), "{refreshed:?}");
    let written = fs::read_to_string(&users).unwrap();
    assert!(written.contains(&token) && written.contains("second-refresh-token"), "{written}");
    assert_eq!(fs::read(&clusters).unwrap(), clusters_text, "the other file is as it was");
}

/// A token that has expired. Only kubectl reads it, and checks only its expiry.
fn expired_token() -> String {
    let part = |value: &serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    [part(&json!({"alg": "none"})), part(&json!({"sub": "refreshing", "exp": 1_000_000_000})), String::new()].join(".")
}
