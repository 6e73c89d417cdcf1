//! Answers an `AdmissionReview` (kubernetes/api `admission/v1/types.go`): bytes in, bytes out.
//!
//! A review that can be read is always allowed. The API server refuses bad pods itself, after admission; watchtap only adds to pods.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::injection::{Admission, Options, admit};
use crate::pod_layout::WARNING_PREFIX;

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// Maximum number of values in a review, and in all that are answered at the same time. Each takes up to 500 bytes of memory: a list or
/// a map with one member takes most. A pod of the largest size that etcd stores has some 100,000.
pub(super) const MOST_VALUES: usize = 100_000;

/// The result of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Injected,
    Refused,
    Unchanged,
    /// The request had no review.
    Malformed,
}

/// The answer to a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reviewed {
    pub(super) outcome: Outcome,
    pub(super) body: Vec<u8>,
    /// Facts for the log, on one line.
    pub(super) note: Option<String>,
}

/// The reason why bytes are no review that can be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoReview {
    #[error("the body has more than {MOST_VALUES} values")]
    TooManyValues,
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    #[error("the body is no {KIND} of {API_VERSION}; set admissionReviewVersions: [v1] in the webhook's configuration")]
    OtherType,
    #[error("the {KIND} has no request.uid")]
    NoUid,
}

/// Answers the review in `body`, of which [`values`] has counted the values.
pub(super) fn review(body: &[u8], options: &Options) -> Result<Reviewed, NoReview> {
    let mut review: Value = serde_json::from_slice(body).map_err(|error| NoReview::NotJson(error.to_string()))?;
    if [("apiVersion", API_VERSION), ("kind", KIND)].iter().any(|(member, value)| review.get(member) != Some(&json!(value))) {
        return Err(NoReview::OtherType);
    }
    let mut nothing = Value::Null;
    let request = review.get_mut("request").unwrap_or(&mut nothing);
    let uid = request.get("uid").and_then(Value::as_str).filter(|uid| !uid.is_empty()).ok_or(NoReview::NoUid)?;
    let mut response = Map::new();
    response.insert("uid".to_owned(), uid.into());
    response.insert("allowed".to_owned(), true.into());
    let mut note = None;
    let outcome = match pod_to_create(request) {
        None => Outcome::Unchanged,
        Some((mut pod, namespace)) => match admit(&mut pod, &namespace, options) {
            Admission::Injected { patch, led, warnings } => {
                put_patch(&mut response, patch);
                put_warnings(&mut response, &warnings);
                note = Some(format!("{}: injected, {} containers observed", name(&pod, &namespace), led.len()));
                Outcome::Injected
            }
            Admission::Refused { patch, refusal } => {
                put_patch(&mut response, patch);
                note = Some(format!("{}: refused: {refusal}", name(&pod, &namespace)));
                put_warnings(&mut response, &[refusal]);
                Outcome::Refused
            }
            Admission::Unchanged(why) => {
                note = Some(format!("{}: unchanged: {why:?}", name(&pod, &namespace)));
                Outcome::Unchanged
            }
        },
    };
    let answer = json!({"apiVersion": API_VERSION, "kind": KIND, "response": response});
    Ok(Reviewed { outcome, body: answer.to_string().into_bytes(), note })
}

/// The answer to the review in `body`, if there is one: for the fuzz target, which calls it from outside of this crate.
pub fn answer_review(body: &[u8]) -> Option<Vec<u8>> {
    values(body).ok()?;
    review(body, &Options::with_image("localhost/watchtap:1")).ok().map(|reviewed| reviewed.body)
}

/// Takes the pod out of a request that creates one, with its namespace. A change of a pod cannot add containers, and a subresource such
/// as `pods/binding` is another object.
fn pod_to_create(request: &mut Value) -> Option<(Value, String)> {
    let text = |pointer: &str| request.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let is_pod = (text("/resource/group"), text("/resource/version"), text("/resource/resource")) == ("", "v1", "pods");
    let creates = text("/operation") == "CREATE" && text("/subResource").is_empty();
    let namespace = text("/namespace").to_owned();
    let pod = request.get_mut("object").filter(|_| is_pod && creates)?;
    Some((pod.take(), namespace))
}

fn put_patch(response: &mut Map<String, Value>, patch: Vec<Value>) {
    response.insert("patchType".to_owned(), "JSONPatch".into());
    response.insert("patch".to_owned(), STANDARD.encode(Value::Array(patch).to_string()).into());
}

fn put_warnings(response: &mut Map<String, Value>, warnings: &[String]) {
    if !warnings.is_empty() {
        let prefixed = warnings.iter().map(|warning| format!("{WARNING_PREFIX}{warning}"));
        response.insert("warnings".to_owned(), prefixed.collect::<Vec<_>>().into());
    }
}

/// The name of a pod, or the prefix of a name that the API server completes.
fn name(pod: &Value, namespace: &str) -> String {
    let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text("/metadata/name").or_else(|| text("/metadata/generateName")).unwrap_or("(no name)");
    format!("{namespace}/{name}")
}

/// Counts the values of a body by the characters before them, outside of strings. A body that is not JSON is read up to its first
/// error only, and until there it is counted as it is read.
pub(super) fn values(body: &[u8]) -> Result<u32, NoReview> {
    let (mut values, mut is_string, mut is_escaped) = (0, false, false);
    for byte in body {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b',' | b'[' | b'{' if !is_string => values += 1,
            _ => {}
        }
    }
    u32::try_from(values).ok().filter(|_| values <= MOST_VALUES).ok_or(NoReview::TooManyValues)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(object: &Value) -> Value {
        json!({"apiVersion": API_VERSION, "kind": KIND, "request": {
            "uid": "705ab4f5", "operation": "CREATE", "namespace": "shop", "dryRun": true,
            "resource": {"group": "", "version": "v1", "resource": "pods"}, "object": object,
        }})
    }

    fn pod(spec: &Value) -> Value {
        let mount = json!({"name": "token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"});
        let mut pod = json!({"metadata": {"name": "web", "labels": {"watchtap.dev/inject": "enabled"}}, "spec": spec});
        pod["spec"]["containers"] = json!([{"name": "app", "image": "a", "volumeMounts": [mount]}]);
        pod
    }

    fn answer(review: &Value) -> (Outcome, Value) {
        let reviewed = super::review(review.to_string().as_bytes(), &Options::with_image("localhost/watchtap:1")).unwrap();
        let answer: Value = serde_json::from_slice(&reviewed.body).unwrap();
        assert_eq!((&answer["apiVersion"], &answer["kind"]), (&json!(API_VERSION), &json!(KIND)));
        assert_eq!((&answer["response"]["uid"], &answer["response"]["allowed"]), (&json!("705ab4f5"), &json!(true)));
        (reviewed.outcome, answer["response"].clone())
    }

    fn patch(response: &Value) -> Value {
        assert_eq!(response["patchType"], "JSONPatch");
        serde_json::from_slice(&STANDARD.decode(response["patch"].as_str().unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn labelled_pod_is_patched() {
        let (outcome, response) = answer(&request(&pod(&json!({}))));
        assert_eq!(outcome, Outcome::Injected);
        assert!(patch(&response).as_array().unwrap().iter().any(|operation| operation["path"] == "/spec/initContainers"));
        assert_eq!(response.get("warnings"), None);
    }

    #[test]
    fn refusal_is_an_annotation_and_a_warning() {
        let (outcome, response) = answer(&request(&pod(&json!({"hostNetwork": true}))));
        assert_eq!(outcome, Outcome::Refused);
        let operations = patch(&response);
        let text = operations[0]["value"]["watchtap.dev/not-injected"].as_str().unwrap();
        assert!(text.starts_with("hostNetwork: true: "));
        assert_eq!(response["warnings"], json!([format!("watchtap: {text}")]));
    }

    #[test]
    fn everything_but_the_creation_of_a_pod_is_allowed_unchanged() {
        let original = request(&pod(&json!({})));
        for (pointer, value) in [
            ("/request/operation", json!("UPDATE")),
            ("/request/operation", json!(null)),
            ("/request/resource/resource", json!("deployments")),
            ("/request/resource/version", json!("v2")),
            ("/request/resource", json!("pods")),
            ("/request/object", json!(null)),
            ("/request/object", json!("pod")),
            ("/request/object/metadata/labels", json!({})),
        ] {
            let mut review = original.clone();
            *review.pointer_mut(pointer).unwrap() = value;
            let (outcome, response) = answer(&review);
            assert_eq!((outcome, response.as_object().unwrap().len()), (Outcome::Unchanged, 2), "{pointer}");
        }
        let mut review = original;
        review["request"]["subResource"] = json!("binding");
        assert_eq!(answer(&review).0, Outcome::Unchanged);
    }

    #[test]
    fn bytes_without_a_review_are_refused_with_a_reason() {
        let (kind, version) = (json!(KIND), json!(API_VERSION));
        for (body, reason) in [
            (String::new(), "the body is not JSON: EOF while parsing a value at line 1 column 0"),
            ("{".to_owned(), "the body is not JSON"),
            ("[".repeat(1000), "the body is not JSON: recursion limit exceeded"),
            ("\u{feff}{}".to_owned(), "the body is not JSON"),
            ("null".to_owned(), "the body is no AdmissionReview of admission.k8s.io/v1"),
            (json!({"kind": kind, "apiVersion": "admission.k8s.io/v1beta1"}).to_string(), "the body is no AdmissionReview"),
            (json!({"kind": kind, "apiVersion": version}).to_string(), "the AdmissionReview has no request.uid"),
            (json!({"kind": kind, "apiVersion": version, "request": {"uid": ""}}).to_string(), "the AdmissionReview has no"),
        ] {
            let error = review(body.as_bytes(), &Options::with_image("a")).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{error}");
        }
    }

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (body, count) in [
            ("", 0),
            ("{}", 1),
            (r#"{"a": [1, {"b,c": "[{,"}, "\\"], "d\",": null}"#, 6),
            (r#"["\"", "\\\\", "\\\",,"]"#, 3),
            ("[[[", 3),
            (r#"{"never ends,,,"#, 1),
        ] {
            assert_eq!(values(body.as_bytes()).unwrap(), count, "{body}");
        }
        assert!(values("[".repeat(MOST_VALUES).as_bytes()).is_ok());
        assert_eq!(values("[".repeat(MOST_VALUES + 1).as_bytes()), Err(NoReview::TooManyValues));
        assert_eq!(values(format!("\"{}\"", ",".repeat(MOST_VALUES + 1)).as_bytes()).unwrap(), 0);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z/~.:$(]{0,6}".prop_map(Value::from),
        ];
        let key = prop_oneof![
            Just("metadata".to_owned()),
            Just("spec".to_owned()),
            Just("containers".to_owned()),
            Just("volumeMounts".to_owned()),
            Just("name".to_owned()),
            "[a-z]{0,3}",
        ];
        leaf.prop_recursive(5, 40, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::vec((key.clone(), inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn review_of_any_object_is_answered(object in any_json(), request_member in any_json(), at in 0..6_usize) {
            let mut object = object;
            if let Some(members) = object.as_object_mut() {
                members.insert("metadata".to_owned(), json!({"labels": {"watchtap.dev/inject": "enabled"}}));
            }
            let mut review = request(&object);
            let member = ["operation", "namespace", "resource", "object", "dryRun", "none"][at];
            if member != "none" {
                review["request"][member] = request_member;
            }
            let (outcome, _) = answer(&review);
            prop_assert_ne!(outcome, Outcome::Malformed);
        }

        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200), json in any_json()) {
            let options = Options::with_image("a");
            prop_assert!(review(&bytes, &options).is_err());
            prop_assert!(review(json.to_string().as_bytes(), &options).is_err());
        }
    }
}
