//! A replica whose requests are refused reports the remedy, and recovers.

use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};

use super::super::Certificates;
use super::super::bundle::Bundle;
use super::super::failure::Names;
use super::super::requests::Requests;
use super::scripted_server::{CANARY, CONFIGURATION, Objects, PODS, Received, SECRET, ScriptedServer, await_state};

/// Answers requests of this method and path with a refusal until the script is taken away; the replica states `words`, and gets
/// ready afterwards.
async fn refused(method: Method, path: &'static str, status: u16, document: Value, words: &[&str]) {
    let server = ScriptedServer::start().await;
    server.script(move |received: &Received| {
        (received.method == method && received.path == path).then(|| (status, document.clone()))
    });
    let mut replica = server.replica();
    await_state(&mut replica, |replica| replica.problem().is_some()).await;
    let problem = replica.problem().unwrap();
    for word in words {
        assert!(problem.contains(word), "`{word}` is not in: {problem}");
    }
    assert!(!problem.contains(CANARY) && !problem.contains('\n') && !problem.contains("BEGIN"), "{problem}");
    assert!(!format!("{replica:?}").contains(CANARY));
    assert!(!replica.is_ready());
    server.script(|_received| None);
    await_state(&mut replica, |replica| replica.is_ready() && replica.problem().is_none()).await;
}

fn forbidden(verb: &str, resource: &str) -> Value {
    json!({"kind": "Status", "reason": "Forbidden", "message": format!("{resource} is forbidden: User \"u\" cannot {verb} resource \"{resource}\"")})
}

#[tokio::test]
async fn missing_rules_are_named() {
    let role = "get, patch and create of secrets with resourceNames [watchtap-certificate], by a Role in the namespace system";
    refused(Method::GET, SECRET, 403, forbidden("get", "secrets"), &["403", role]).await;
    refused(Method::PATCH, SECRET, 403, forbidden("create", "secrets"), &["cannot create resource", role]).await;
    let role = "get and patch of mutatingwebhookconfigurations.admissionregistration.k8s.io with resourceNames [watchtap]";
    refused(Method::GET, CONFIGURATION, 403, forbidden("get", "x"), &[role, "ClusterRole"]).await;
    refused(Method::PATCH, CONFIGURATION, 403, forbidden("patch", "x"), &[role]).await;
}

#[tokio::test]
async fn other_errors_are_quoted_with_their_remedy() {
    refused(Method::GET, SECRET, 401, json!({"message": "Unauthorized"}), &["401", "token"]).await;
    refused(Method::GET, SECRET, 500, json!({"message": "etcd is away"}), &["500 (etcd is away)"]).await;
    refused(Method::PATCH, SECRET, 422, json!({"message": "immutable"}), &["delete the Secret system/watchtap-certificate"]).await;
    refused(Method::PATCH, SECRET, 404, json!({"message": "namespaces \"system\" not found"}), &["not found"]).await;
    refused(Method::PATCH, CONFIGURATION, 422, json!({"message": "bad caBundle"}), &["the caBundle of", "bad caBundle"]).await;
    refused(Method::GET, CONFIGURATION, 404, json!({}), &["no MutatingWebhookConfiguration watchtap", "install the chart"]).await;
    refused(Method::GET, SECRET, 200, json!({"items": []}), &["is not the object that was requested"]).await;
    refused(Method::GET, SECRET, 200, json!("x".repeat(5 << 20)), &["is larger than"]).await;
}

#[tokio::test]
async fn pause_that_the_api_server_asks_for_is_kept_within_a_bound() {
    let server = ScriptedServer::start().await;
    let names = Names { service: "watchtap.system".parse().unwrap(), configuration: "watchtap".to_owned() };
    let mut requests = Requests::open(&server.access(PODS[0]), Arc::new(names)).await.unwrap();
    for (asked, kept) in [(Some(7), Some(7)), (Some(86_400), Some(60)), (None, None)] {
        let document = json!({"details": {"retryAfterSeconds": asked}});
        server.script(move |_received| Some((429, document.clone())));
        requests.read_secret().await.unwrap_err();
        assert_eq!(requests.asked, kept.map(Duration::from_secs));
    }
}

#[tokio::test]
async fn endless_conflicts_are_reported_and_bounded() {
    for path in [SECRET, CONFIGURATION] {
        refused(Method::PATCH, path, 409, json!({}), &["other programs keep changing", "managedFields"]).await;
    }
}

#[tokio::test]
async fn configuration_without_a_webhook_of_ours_is_reported() {
    let server = ScriptedServer::start().await;
    server.change(|objects| objects.configuration.as_mut().unwrap()["webhooks"] = json!(null));
    let mut replica = server.replica();
    await_state(&mut replica, |replica| replica.problem().is_some_and(|problem| problem.contains("clientConfig.service"))).await;
    assert!(!replica.is_ready());
    server.change(Objects::configure);
    await_state(&mut replica, Certificates::is_ready).await;
}

#[tokio::test]
async fn replica_is_not_ready_while_the_bundle_cannot_be_written() {
    let server = ScriptedServer::start().await;
    let mut replica = server.replica();
    await_state(&mut replica, Certificates::is_ready).await;
    server.script(|received: &Received| (received.method == Method::PATCH).then(|| (403, json!({}))));
    server.change(|objects| objects.write_bundle(&Bundle::default()));
    await_state(&mut replica, |replica| !replica.is_ready()).await;
    assert!(replica.problem().unwrap().contains("by a ClusterRole"));
    server.script(|_received| None);
    await_state(&mut replica, Certificates::is_ready).await;
    server.change(|objects| objects.configuration = None);
    await_state(&mut replica, |replica| !replica.is_ready()).await;
}
