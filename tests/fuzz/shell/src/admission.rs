//! Invariants of `watchtap webhook`: each review is allowed, its patch can be applied, and another admission changes nothing.
//!
//! The input is the body of a request; if it is JSON, it is also the pod of a review.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use watchtap::webhook::answer_review;

/// Answers the body, and then the review of the pod.
pub fn check(input: &[u8]) {
    if let Some(answer) = answer_review(input) {
        let answer: Value = serde_json::from_slice(&answer).expect("an answer is JSON");
        assert_eq!(answer["response"]["allowed"], true);
    }
    let Ok(pod) = serde_json::from_slice::<Value>(input) else { return };
    let Some(admitted) = admitted(&pod) else { return };
    assert_eq!(self::admitted(&admitted).as_ref(), Some(&admitted), "another admission changes the pod");
}

/// The pod with the patch of its review. `None` if it is nested so deeply that its review is not JSON any more.
fn admitted(pod: &Value) -> Option<Value> {
    let resource = json!({"group": "", "version": "v1", "resource": "pods"});
    let request = json!({"uid": "1", "operation": "CREATE", "namespace": "shop", "resource": resource, "object": pod});
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).to_string();
    let answer: Value = serde_json::from_slice(&answer_review(review.as_bytes())?).expect("an answer is JSON");
    assert_eq!((&answer["response"]["uid"], &answer["response"]["allowed"]), (&json!("1"), &json!(true)));
    let mut admitted = pod.clone();
    if let Some(patch) = answer["response"]["patch"].as_str() {
        let patch: json_patch::Patch = serde_json::from_slice(&STANDARD.decode(patch).expect("base64")).expect("a patch");
        json_patch::patch(&mut admitted, &patch).expect("the patch fits the pod");
    }
    Some(admitted)
}
