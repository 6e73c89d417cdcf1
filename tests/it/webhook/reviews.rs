//! Reviews as the API server sends them, and exchanges byte by byte.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use observer_tests::{ClientStream, read_head};
use serde_json::{Value, json};

/// A review that creates a labelled pod. `spec` is added to that of a pod with one container and its token.
pub(super) fn review(uid: &str, spec: &Value) -> Value {
    let mount =
        json!({"name": "kube-api-access-7xk2p", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true});
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"generateName": "web-", "namespace": "shop", "labels": {"watchtap.dev/inject": "enabled"}},
        "spec": {"containers": [{"name": "app", "image": "example.com/app:1", "volumeMounts": [mount]}]},
    });
    for (member, value) in spec.as_object().unwrap() {
        pod["spec"][member] = value.clone();
    }
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": uid,
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "namespace": "shop", "operation": "CREATE", "dryRun": false, "object": pod,
    }})
}

/// The operations in a response.
#[track_caller]
pub(super) fn patch(response: &Value) -> Vec<Value> {
    assert_eq!(response["patchType"], "JSONPatch", "{response}");
    serde_json::from_slice(&STANDARD.decode(response["patch"].as_str().unwrap()).unwrap()).unwrap()
}

/// The bytes of a request, without those of its body.
pub(super) fn head(length: usize) -> String {
    format!(
        "POST /mutate?timeout=5s HTTP/1.1\r\nHost: webhook\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// Sends a review, and reads the head and the body of its answer.
#[track_caller]
pub(super) fn exchange(stream: &mut ClientStream, review: &Value) -> (String, Value) {
    let body = review.to_string();
    stream.write_all(head(body.len()).as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let (head, body) = answer(stream);
    (head, serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&body))))
}

/// Reads an answer.
#[track_caller]
pub(super) fn answer(stream: &mut ClientStream) -> (String, Vec<u8>) {
    let head = read_head(stream).unwrap().expect("an answer").to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()).expect("a length");
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}
