//! Namespaces that limit the resources of containers: the flags of `inject` meet the limits.

use observer_tests::{Cluster, Options};
use serde_json::{Value, json};

use super::invocation::{IMAGE, run};

const PODS: &str = "/api/v1/namespaces/limited/pods?dryRun=All&fieldValidation=Strict";

#[test]
fn flags_meet_the_limits_of_a_namespace() {
    let cluster = Cluster::start(&Options { service_account_admission: true, ..Options::default() }).unwrap();
    let client = cluster.client();
    let post = |path: &str, object: &Value| client.post(path, object).unwrap().success().unwrap();
    post("/api/v1/namespaces", &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "limited"}}));
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    post("/api/v1/namespaces/limited/serviceaccounts", &account);
    let of_container = json!({
        "type": "Container", "min": {"cpu": "50m", "memory": "64Mi"}, "maxLimitRequestRatio": {"memory": "2"}
    });
    let range = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "r"}, "spec": {"limits": [of_container]}});
    post("/api/v1/namespaces/limited/limitranges", &range);

    let resources = json!({"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "64Mi"}});
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"},
        "spec": {"containers": [{"name": "main", "image": "a", "resources": resources}]}
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pod.json");
    std::fs::write(&file, pod.to_string()).unwrap();
    let admitted = |flags: &[&str]| {
        let injected = run(&[&["inject", "--image", IMAGE, "--assume-token"], flags].concat(), &file);
        assert_eq!(injected.code, Some(0), "{}", injected.stderr);
        let response = client.post(PODS, &serde_json::from_str(&injected.stdout).unwrap()).unwrap();
        (response.status, response.json().unwrap()["message"].as_str().unwrap_or_default().to_owned())
    };
    let (status, message) = admitted(&[]);
    assert_eq!(status, 403, "{message}");
    assert!(message.contains("minimum memory usage per Container is 64Mi"), "{message}");
    let met = admitted(&["--requests", "cpu=50m,memory=64Mi", "--limits", "memory=128Mi"]);
    assert_eq!(met, (201, String::new()));
}
