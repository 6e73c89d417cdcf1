//! The members that the API server adds to what was injected (kubernetes/kubernetes `pkg/apis/core/v1/defaults.go`).

use serde_json::{Map, Value};

/// Whether the API server adds this member to a container or a volume that lacks it.
pub(super) fn is_default(object: &Map<String, Value>, key: &str, value: &Value) -> bool {
    match (key, value) {
        ("successThreshold" | "timeoutSeconds", Value::Number(number)) => number.as_u64() == Some(1),
        ("resources", Value::Object(resources)) => resources.is_empty(),
        ("defaultMode", Value::Number(number)) => number.as_u64() == Some(0o644),
        ("apiVersion", Value::String(text)) => text == "v1",
        ("imagePullPolicy", Value::String(text)) => object.get("image").and_then(Value::as_str).map(pull_policy) == Some(text),
        ("protocol", Value::String(text)) => text == "TCP",
        ("scheme", Value::String(text)) => text == "HTTP",
        ("terminationMessagePath", Value::String(text)) => text == "/dev/termination-log",
        ("terminationMessagePolicy", Value::String(text)) => text == "File",
        _ => false,
    }
}

/// The policy for an image without one: a tag that is `latest`, or absent, is expected to move.
fn pull_policy(image: &str) -> &'static str {
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    let tag = name.rsplit('/').next().and_then(|last| last.split_once(':')).map(|(_, tag)| tag);
    let moves = tag.map_or(digest.is_none(), |tag| tag == "latest");
    if moves { "Always" } else { "IfNotPresent" }
}

/// Whether two values differ at most by such members.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => covers(one, other) && covers(other, one),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (one, other) => one == other,
    }
}

/// Whether `other` has the members of `one`, except defaults.
fn covers(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    one.iter().all(|(key, value)| match other.get(key) {
        Some(found) => same(value, found),
        None => is_default(one, key, value),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pull_policy_follows_from_the_image() {
        for (image, policy) in [
            ("a", "Always"),
            ("host:5000/a", "Always"),
            ("host:5000/a:latest", "Always"),
            ("host:5000/a:1", "IfNotPresent"),
            ("a@sha256:0", "IfNotPresent"),
            ("a:latest@sha256:0", "Always"),
        ] {
            assert_eq!(pull_policy(image), policy, "{image}");
        }
    }

    #[test]
    fn only_defaults_may_be_absent() {
        let written = json!({"image": "a:1", "ports": [{"containerPort": 1}]});
        let stored = json!({"ports": [{"protocol": "TCP", "containerPort": 1}], "imagePullPolicy": "IfNotPresent", "image": "a:1"});
        assert!(same(&written, &stored) && same(&stored, &written));
        for (pointer, value) in
            [("/ports/0/protocol", json!("UDP")), ("/imagePullPolicy", json!("Never")), ("/image", json!("a:2"))]
        {
            let mut edited = stored.clone();
            *edited.pointer_mut(pointer).unwrap() = value;
            assert!(!same(&written, &edited), "{pointer}");
        }
    }
}
