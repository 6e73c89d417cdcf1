//! The webhook as a user of kubectl meets it.

use std::process::{Command, Output};
use std::time::Duration;

use observer_tests::{Cluster, WebhookProcess, kubectl, output_within};
use serde_json::Value;

use super::webhook::registration::{await_sidecars, cluster, configuration, has_sidecar, register};

const LIMIT: Duration = Duration::from_mins(1);

#[test]
fn kubectl_prints_refusals_as_warnings() {
    let cluster = cluster();
    let client = cluster.client();
    let webhook = WebhookProcess::start().unwrap();
    register(&client, &configuration("watchtap", &webhook.url(), webhook.authority()));
    await_sidecars(&client);
    let refused = run(&cluster, "refused", &["--overrides", r#"{"spec":{"hostNetwork":true}}"#]);
    let said = stderr(&refused);
    assert!(refused.status.success(), "{said}");
    assert!(
        said.starts_with("Warning: watchtap: hostNetwork: true: the sidecar's ports would be open to the other programs"),
        "{said}"
    );
    assert!(said.contains("; observe it on its node with `watchtap probe`"), "{said}");
    let stored = client.get("/api/v1/namespaces/default/pods/refused").unwrap().json().unwrap();
    let annotation = stored["metadata"]["annotations"]["watchtap.dev/not-injected"].as_str().unwrap();
    assert!(said.contains(annotation) && stored["spec"]["initContainers"].is_null(), "{stored}");
    // A dry run of the server shows what would be created.
    let tried = run(&cluster, "tried", &["--dry-run=server", "--output", "json"]);
    assert!(tried.status.success() && stderr(&tried).is_empty(), "{}", stderr(&tried));
    assert!(has_sidecar(&serde_json::from_slice::<Value>(&tried.stdout).unwrap()));
    assert_eq!(client.raw("GET", "/api/v1/namespaces/default/pods/tried", &[], b"").unwrap().status, 404);
}

fn run(cluster: &Cluster, name: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(kubectl().expect("this test needs kubectl on the PATH"));
    command.args(["run", name, "--image", "example.com/app:1", "--labels", "watchtap.dev/inject=enabled"]).args(arguments);
    output_within(command.env("KUBECONFIG", cluster.kubeconfig_token().unwrap()), LIMIT).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
