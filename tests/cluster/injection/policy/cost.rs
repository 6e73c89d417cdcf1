//! The limits that the API server sets for the evaluation of a policy (kubernetes/apiserver `pkg/apis/cel/config.go`): a million for
//! each expression, and ten million for all of them.

use serde_json::{Value, json};
use watchtap::injection::SampleOptions;

use super::ground::{ADMITTED, Ground, NAMESPACE, labelled};

/// As many variables as a container of a large chart has.
const VARIABLES: usize = 200;

#[test]
fn cost_of_large_pods_stays_within_the_limits() {
    let ground = Ground::with_policy(SampleOptions::Image);
    for containers in [20, 128] {
        let stored = ground.stored(NAMESPACE, &labelled(&large(containers, VARIABLES))).unwrap();
        assert!(stored["metadata"]["annotations"][ADMITTED].is_string(), "{containers} containers: {}", ground.errors());
    }
    assert_eq!(ground.errors(), "");
    // A pod beyond them passes unchanged, and the server counts the failure.
    let huge = labelled(&large(1, 1));
    let ports: Vec<Value> = (9_643..16_443).map(|port| json!({"containerPort": port})).collect();
    let mut huge_ports = huge.clone();
    huge_ports["spec"]["containers"][0]["ports"] = ports.into();
    let stored = ground.stored(NAMESPACE, &huge_ports).unwrap();
    assert_eq!((&stored["spec"]["initContainers"], &stored["metadata"]["annotations"]), (&Value::Null, &Value::Null));
    assert!(ground.errors().contains("watchtap-inject"), "{}", ground.errors());
}

fn large(containers: usize, variables: usize) -> Value {
    let variables: Vec<Value> = (0..variables)
        .map(|number| json!({"name": format!("VARIABLE_{number}"), "value": "v"}))
        .chain([json!({"name": "HTTPS_PROXY", "value": "proxy:3128"})])
        .collect();
    let container = |number: usize| {
        let ports: Vec<Value> = (0..5).map(|port| json!({"containerPort": 8_000 + 10 * number + port})).collect();
        json!({"name": format!("c{number}"), "image": "registry.example/project/app:1.2.3", "env": variables, "ports": ports})
    };
    json!({"metadata": {"name": "large"}, "spec": {"containers": (0..containers).map(container).collect::<Vec<_>>()}})
}
