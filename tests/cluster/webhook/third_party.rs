//! A webhook of another vendor that parses pods with the types of an old release, and returns all of what it knows.

use std::io::{Read as _, Write as _};

use observer_tests::{ScriptedUpstream, ServerStream, WebhookProcess, read_head};
use serde_json::{Value, json};

use super::registration::{await_sidecars, cluster, configuration, dry_run, has_sidecar, pod, register, replace};
use crate::eventually::eventually;

/// The message in docs/webhook.md.
const REFUSAL: &str =
    "spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always";

#[test]
fn pod_that_lost_the_restart_policy_is_refused_and_an_exemption_helps() {
    assert!(include_str!("../../../docs/webhook.md").contains(REFUSAL));
    let cluster = cluster();
    let client = cluster.client();
    let webhook = WebhookProcess::start().unwrap();
    register(&client, &configuration("watchtap", &webhook.url(), webhook.authority()));
    await_sidecars(&client);
    let old = ScriptedUpstream::start(&[b"http/1.1"], strip).unwrap();
    let url = format!("https://{}/", old.address());
    // Configurations are called in the order of their names. None is called again after a change by the other.
    let mut stripping = configuration("zz-old", &url, old.ca_pem());
    register(&client, &stripping);
    let refused = eventually(|| Some(dry_run(&client, &pod("web", &json!({})))).filter(|answer| answer.status != 201));
    let refused = refused.expect("a refusal").json().unwrap();
    assert_eq!(refused["code"], 422);
    assert!(refused["message"].as_str().unwrap().contains(REFUSAL), "{refused}");
    stripping["webhooks"][0]["objectSelector"] =
        json!({"matchExpressions": [{"key": "watchtap.dev/inject", "operator": "DoesNotExist"}]});
    replace(&client, &stripping);
    let admitted = eventually(|| Some(dry_run(&client, &pod("web", &json!({})))).filter(|answer| answer.status == 201));
    assert!(has_sidecar(&admitted.expect("a pod").json().unwrap()));
}

/// Removes `restartPolicy` from each init container.
fn strip(stream: &mut ServerStream) -> std::io::Result<()> {
    while let Some(head) = read_head(stream)? {
        let length =
            head.to_ascii_lowercase().split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body)?;
        let review: Value = serde_json::from_slice(&body)?;
        let containers = review["request"]["object"]["spec"]["initContainers"].as_array().cloned().unwrap_or_default();
        let known = containers.iter().enumerate().filter(|(_, container)| container.get("restartPolicy").is_some());
        let operations: Vec<Value> = known
            .map(|(place, _)| json!({"op": "remove", "path": format!("/spec/initContainers/{place}/restartPolicy")}))
            .collect();
        let mut response = json!({"uid": review["request"]["uid"], "allowed": true});
        if !operations.is_empty() {
            use base64::Engine as _;
            response["patchType"] = "JSONPatch".into();
            response["patch"] = base64::engine::general_purpose::STANDARD.encode(Value::from(operations).to_string()).into();
        }
        let answer = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}).to_string();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", answer.len());
        stream.write_all((head + &answer).as_bytes())?;
        stream.flush()?;
    }
    Ok(())
}
