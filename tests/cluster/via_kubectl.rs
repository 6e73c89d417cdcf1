//! kubectl connects through the kubeconfig's `proxy-url`; `server` stays the API server's own.

use std::time::Duration;

use observer_tests::{Cluster, kubectl, output_within, watchtap};

const LIMIT: Duration = Duration::from_mins(1);
const WHOAMI: [&str; 4] = ["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"];

#[test]
fn kubectl_connects_through_the_proxy_url_with_each_credential() {
    let cluster = Cluster::shared().unwrap();
    let kubectl = kubectl().expect("these tests need kubectl on the PATH");
    for (kubeconfig, user) in [
        (cluster.kubeconfig_token().unwrap(), "admin"),
        (cluster.kubeconfig_client_cert().unwrap(), "certificate-admin"),
        (cluster.kubeconfig_exec_certificate().unwrap(), "certificate-admin"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report.json");
        let mut command = watchtap().unwrap();
        command.args(["exec", "--via", "proxy-url", "--format", "json", "--report"]).arg(&report).arg("--").arg(&kubectl);
        let output = output_within(command.args(WHOAMI).env("KUBECONFIG", kubeconfig), LIMIT).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), user, "{}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
        assert!(!report["requests"].as_array().unwrap().is_empty(), "it did not go past us");
    }
}
