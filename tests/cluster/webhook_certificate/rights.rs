//! The rights of the chart's `Role` and `ClusterRole` suffice, and each of them is needed.

use serde_json::{Value, json};
use watchtap::webhook::certificate::Certificates;

use super::system::{NAME, OF_CONFIGURATION, OF_SECRET, System, await_state, certificate};

#[tokio::test(flavor = "multi_thread")]
async fn rights_of_the_chart_suffice() {
    let system = System::install("webhook-rights");
    let mut replica = system.replica();
    await_state(&mut replica, Certificates::is_ready).await;
    assert_eq!(replica.problem(), None);
    let secret = system.read(&system.secret_path()).unwrap();
    let account = system.read(&format!("/api/v1/namespaces/{}/serviceaccounts/{NAME}", system.namespace)).unwrap();
    let owner = json!({"apiVersion": "v1", "kind": "ServiceAccount", "name": NAME, "uid": account["metadata"]["uid"]});
    assert_eq!(secret["metadata"]["ownerReferences"], json!([owner]));
    assert_eq!(secret["type"], "Opaque");
    assert_eq!(secret["data"].as_object().unwrap().keys().collect::<Vec<_>>(), ["authority.pem"]);
    let manager = secret["metadata"]["managedFields"][0].clone();
    assert_eq!(manager["operation"], "Apply");
    assert!(manager["manager"].as_str().unwrap().starts_with("watchtap-"), "{manager}");
    assert_eq!(system.bundle(), [certificate(&system.stored().unwrap())]);
    let fields = managed_fields(&system.read(&system.configuration_path()).unwrap(), "watchtap-ca");
    let own = json!({".": {}, "f:name": {}, "f:clientConfig": {"f:caBundle": {}}});
    assert_eq!(fields["f:webhooks"][r#"k:{"name":"pods.watchtap.dev"}"#], own, "{fields:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn right_that_is_missing_is_named_and_the_replica_recovers_with_it() {
    let without = |verbs: &'static [&'static str], missing: &str| -> Vec<&'static str> {
        verbs.iter().copied().filter(|verb| *verb != missing).collect()
    };
    for (namespace, of_secret, of_configuration, words) in [
        ("webhook-no-get", without(OF_SECRET, "get"), OF_CONFIGURATION.to_vec(), ["cannot get resource", "by a Role"]),
        ("webhook-no-patch", without(OF_SECRET, "patch"), OF_CONFIGURATION.to_vec(), ["cannot patch resource", "by a Role"]),
        ("webhook-no-create", without(OF_SECRET, "create"), OF_CONFIGURATION.to_vec(), ["cannot create resource", "by a Role"]),
        ("webhook-blind", OF_SECRET.to_vec(), without(OF_CONFIGURATION, "get"), ["cannot get resource", "by a ClusterRole"]),
        ("webhook-mute", OF_SECRET.to_vec(), without(OF_CONFIGURATION, "patch"), ["cannot patch resource", "by a ClusterRole"]),
    ] {
        let system = System::install(namespace);
        system.grant(&of_secret, &of_configuration);
        await_rights(&system, &of_secret, &of_configuration);
        let mut replica = system.replica();
        await_state(&mut replica, |replica| replica.problem().is_some()).await;
        let problem = replica.problem().unwrap();
        assert!(words.iter().all(|words| problem.contains(words)), "{problem}");
        assert!(!replica.is_ready());
        system.grant(OF_SECRET, OF_CONFIGURATION);
        await_state(&mut replica, |replica| replica.is_ready() && replica.problem().is_none()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_of_the_chart_give_no_other_object() {
    let system = System::install("webhook-only");
    let mut replica = system.replica();
    await_state(&mut replica, Certificates::is_ready).await;
    let secrets = format!("/api/v1/namespaces/{}/secrets", system.namespace);
    let configurations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    let bearer = format!("Bearer {}", system.token());
    let secret = |name: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
    for (method, path, object) in [
        ("GET", secrets.clone(), Value::Null),
        ("GET", format!("{secrets}/other"), Value::Null),
        ("POST", secrets.clone(), secret("other")),
        ("POST", secrets.clone(), secret("watchtap-certificate")),
        ("PATCH", format!("{secrets}/other?fieldManager=x"), secret("other")),
        ("DELETE", system.secret_path(), Value::Null),
        ("GET", configurations.to_owned(), Value::Null),
        ("GET", format!("{configurations}/other"), Value::Null),
        ("DELETE", system.configuration_path(), Value::Null),
        ("GET", "/api/v1/namespaces/default/secrets/watchtap-certificate".to_owned(), Value::Null),
    ] {
        let media_type = if method == "PATCH" { "application/apply-patch+yaml" } else { "application/json" };
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", media_type)];
        let body = if object.is_null() { String::new() } else { object.to_string() };
        let response = system.cluster.raw(method, &path, &headers, body.as_bytes()).unwrap();
        assert_eq!(response.status, 403, "{method} {path}: {}", response.text());
    }
    // All that the webhook itself requests.
    for request in system.requests().iter().filter(|request| request["responseStatus"]["code"] != 403) {
        let (verb, object) = (request["verb"].as_str().unwrap(), &request["objectRef"]);
        let is_of_secret = object["resource"] == "secrets" && OF_SECRET.contains(&verb);
        let is_of_configuration = object["resource"] == "mutatingwebhookconfigurations" && OF_CONFIGURATION.contains(&verb);
        assert!(is_of_secret || is_of_configuration, "{request:#}");
    }
}

/// Waits until the API server has taken over new rules, so that a verb that was taken away is refused.
#[track_caller]
fn await_rights(system: &System, of_secret: &[&str], of_configuration: &[&str]) {
    let user = format!("system:serviceaccount:{}:{NAME}", system.namespace);
    let is_allowed = |verb: &str, resource: Value| {
        let mut attributes = resource;
        attributes["verb"] = json!(verb);
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": attributes},
        });
        let answer = system.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", &review).success().unwrap();
        answer.json().unwrap()["status"]["allowed"] == true
    };
    let secret = json!({"resource": "secrets", "namespace": system.namespace, "name": format!("{NAME}-certificate")});
    let configuration = json!({
        "group": "admissionregistration.k8s.io", "resource": "mutatingwebhookconfigurations", "name": system.namespace,
    });
    let is_so = || {
        OF_SECRET.iter().all(|verb| is_allowed(verb, secret.clone()) == of_secret.contains(verb))
            && OF_CONFIGURATION.iter().all(|verb| is_allowed(verb, configuration.clone()) == of_configuration.contains(verb))
    };
    crate::eventually::eventually(|| is_so().then_some(())).expect("the rules come into force");
}

/// The fields of an object that a manager applied.
pub(super) fn managed_fields(object: &Value, manager: &str) -> Value {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    entries.iter().find(|entry| entry["manager"] == manager).map(|entry| entry["fieldsV1"].clone()).unwrap()
}
