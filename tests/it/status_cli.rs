//! `watchtap status` in front of servers that answer as scripted.

use std::io::{self, Write};
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use observer_tests::{ScriptedUpstream, ServerStream, output_within, read_head, watchtap};
use serde_json::{Value, json};

const ENDS_WITHIN: Duration = Duration::from_mins(1);
const TOKEN: &str = "c4n4ry-of-the-status";
const PODS: &str = "/pods?labelSelector=watchtap.dev%2Finject%3Denabled&resourceVersion=0";

/// The answers of an API server: status and document.
#[derive(Clone)]
struct Answers {
    pods: (u16, Value),
    webhooks: (u16, Value),
    policies: (u16, Value),
}

#[test]
fn pods_without_a_sidecar_exit_with_3_and_are_named() {
    let asked = status(&answers(&[with_sidecar("web-1"), refused("web-2")]), &["-n", "shop"]);
    assert_eq!(asked.output.status.code(), Some(3), "{asked:?}");
    let stdout = text(&asked.output.stdout);
    assert!(stdout.starts_with("2 pods in namespace shop request a sidecar: 1 with, 1 without\nwebhook: w\n"), "{stdout}");
    assert!(stdout.contains("shop       web-2  refused  -\n  the pod uses hostNetwork; observe it on its node\n"), "{stdout}");
    assert!(!stdout.contains('\u{1b}'), "colours without a terminal: {stdout}");
}

#[test]
fn pods_with_sidecars_exit_with_0_as_json() {
    let asked = status(&answers(&[with_sidecar("web-1")]), &["--all-namespaces", "--format", "json"]);
    assert_eq!(asked.output.status.code(), Some(0), "{asked:?}");
    let document: Value = serde_json::from_slice(&asked.output.stdout).unwrap();
    assert_eq!(
        (&document["schema"], &document["with"], &document["without"]),
        (&"watchtap.status/v1".into(), &1.into(), &0.into())
    );
    assert_eq!(document["pods"][0]["sidecar"], "running");
}

/// Each is one list from the watch cache, and the namespace is that of the context unless a flag names another.
#[test]
fn three_requests_are_sent_with_the_token() {
    let cases: [(&[&str], &str); 3] =
        [(&[], "/api/v1/namespaces/of-the-context"), (&["--namespace", "shop"], "/api/v1/namespaces/shop"), (&["-A"], "/api/v1")];
    for (arguments, path) in cases {
        let asked = status(&answers(&[]), arguments);
        assert_eq!(asked.output.status.code(), Some(0), "{asked:?}");
        let targets: Vec<&str> = asked.requests.iter().filter_map(|head| head.split(' ').nth(1)).collect();
        let rules = "/apis/admissionregistration.k8s.io/v1/mutating";
        assert_eq!(
            targets,
            [
                format!("{path}{PODS}"),
                format!("{rules}webhookconfigurations?resourceVersion=0"),
                format!("{rules}admissionpolicies?resourceVersion=0")
            ]
        );
        let has_token = |head: &String| head.to_lowercase().contains(&format!("authorization: bearer {TOKEN}"));
        assert!(asked.requests.iter().all(has_token), "{:?}", asked.requests);
    }
}

#[test]
fn denied_webhooks_are_unknown_with_the_reason() {
    let denied = json!({ "kind": "Status", "message": "mutatingwebhookconfigurations is forbidden" });
    let asked = status(&Answers { webhooks: (403, denied), ..answers(&[]) }, &[]);
    let stdout = text(&asked.output.stdout);
    let reason = "webhook: unknown, the API server answered 403 Forbidden: mutatingwebhookconfigurations is forbidden\n";
    assert!(asked.output.status.success() && stdout.contains(reason), "{asked:?}");
}

#[test]
fn older_servers_have_no_policies() {
    let asked = status(&Answers { policies: (404, json!({ "kind": "Status" })), ..answers(&[]) }, &[]);
    assert!(text(&asked.output.stdout).contains("\nwebhook: w\n"), "{asked:?}");
}

#[test]
fn denied_pods_and_other_documents_exit_with_1() {
    let denied = (403, json!({ "kind": "Status", "message": "pods is forbidden" }));
    let verbose = (403, json!({ "kind": "Status", "message": "x".repeat(100_000) }));
    for (pods, expected) in [
        (
            denied,
            "cannot list pods in all namespaces (name one namespace with --namespace): the API server answered 403 Forbidden: pods",
        ),
        (verbose, ": the API server answered 403 Forbidden\n"),
        ((200, json!({})), "the answer is not a list of the API server: missing field `kind`"),
        ((200, json!("text")), "the answer is not a list of the API server"),
    ] {
        let asked = status(&Answers { pods, ..answers(&[]) }, &["-A"]);
        let stderr = text(&asked.output.stderr);
        assert!(asked.output.status.code() == Some(1) && stderr.contains(expected), "{asked:?}");
    }
}

#[test]
fn name_that_is_no_namespace_is_a_usage_error() {
    let mut command = watchtap().unwrap();
    let output = output_within(command.args(["status", "-n", "a/b"]), ENDS_WITHIN).unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

/// A finished `watchtap status`, and the heads of its requests.
#[derive(Debug)]
struct Asked {
    output: Output,
    requests: Vec<String>,
}

#[track_caller]
fn status(answers: &Answers, arguments: &[&str]) -> Asked {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let upstream = serve(answers.clone(), Arc::clone(&requests));
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("config");
    let authority = BASE64_STANDARD.encode(upstream.ca_pem());
    let config = json!({
        "current-context": "c",
        "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u", "namespace": "of-the-context" } }],
        "clusters": [{ "name": "c", "cluster": {
            "server": format!("https://{}", upstream.address()), "certificate-authority-data": authority,
        } }],
        "users": [{ "name": "u", "user": { "token": TOKEN } }],
    });
    std::fs::write(&kubeconfig, config.to_string()).unwrap();
    let mut command = watchtap().unwrap();
    command.arg("status").args(arguments).arg("--kubeconfig").arg(&kubeconfig);
    let output = output_within(&mut command, ENDS_WITHIN).unwrap();
    for stream in [&output.stdout, &output.stderr] {
        assert!(!text(stream).contains(TOKEN), "{output:?}");
    }
    let requests = requests.lock().unwrap().clone();
    Asked { output, requests }
}

fn serve(answers: Answers, requests: Arc<Mutex<Vec<String>>>) -> ScriptedUpstream {
    let unknown = (500, Value::Null);
    ScriptedUpstream::start(&[b"http/1.1"], move |stream| {
        while let Some(head) = read_head(stream)? {
            let (status, document) = match head.split(' ').nth(1).unwrap_or_default() {
                target if target.contains("/pods?") => &answers.pods,
                target if target.contains("mutatingwebhookconfigurations") => &answers.webhooks,
                target if target.contains("mutatingadmissionpolicies") => &answers.policies,
                _ => &unknown,
            };
            requests.lock().unwrap().push(head);
            respond(stream, *status, &document.to_string())?;
        }
        Ok(())
    })
    .unwrap()
}

fn respond(stream: &mut ServerStream, status: u16, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all((head + body).as_bytes())?;
    stream.flush()
}

fn answers(pods: &[Value]) -> Answers {
    let webhook = json!({
        "objectSelector": { "matchLabels": { "watchtap.dev/inject": "enabled" } },
        "clientConfig": { "caBundle": "QQ==" },
    });
    let configuration = json!({ "metadata": { "name": "w" }, "webhooks": [webhook] });
    Answers {
        pods: (200, json!({ "kind": "PodList", "items": pods })),
        webhooks: (200, json!({ "kind": "MutatingWebhookConfigurationList", "items": [configuration] })),
        policies: (200, json!({ "kind": "MutatingAdmissionPolicyList", "items": null })),
    }
}

fn with_sidecar(name: &str) -> Value {
    json!({
        "metadata": { "name": name, "namespace": "shop", "annotations": { "watchtap.dev/admitted": "0.1.0" } },
        "spec": {
            "initContainers": [{
                "name": "watchtap",
                "restartPolicy": "Always",
                "volumeMounts": [{ "name": "watchtap-own", "mountPath": "/var/run/secrets/watchtap/own" }],
            }],
            "containers": [{ "name": "app" }],
        },
        "status": { "phase": "Running", "initContainerStatuses": [
            { "name": "watchtap", "started": true, "state": { "running": { "startedAt": "2026-11-26T10:00:00Z" } } },
        ] },
    })
}

fn refused(name: &str) -> Value {
    let reason = "the pod uses hostNetwork; observe it on its node";
    json!({
        "metadata": { "name": name, "namespace": "shop", "annotations": { "watchtap.dev/not-injected": reason } },
        "spec": { "containers": [{ "name": "app" }] },
        "status": { "phase": "Running" },
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
