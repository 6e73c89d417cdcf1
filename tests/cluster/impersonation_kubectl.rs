//! Impersonation: the user identity through watchtap equals the direct one.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use observer_tests::{Cluster, kubectl, output_within, watchtap};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_mins(1);

#[test]
fn kubectl_impersonation_flags_work_with_a_token() {
    let cluster = Cluster::shared().unwrap();
    check(&cluster.kubeconfig_token().unwrap(), &["--as=jane", "--as-group=developers", "--as-uid=42"], &jane());
}

#[test]
fn kubectl_impersonation_flags_work_with_a_client_certificate() {
    let cluster = Cluster::shared().unwrap();
    check(&cluster.kubeconfig_client_cert().unwrap(), &["--as=jane", "--as-group=developers", "--as-uid=42"], &jane());
}

#[test]
fn kubeconfig_impersonation_fields_are_honoured() {
    let token = Cluster::shared().unwrap().kubeconfig_token().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let impersonating = folder.path().join("kubeconfig");
    let fields = "as: jane\n    as-groups: [developers]\n    as-uid: '42'\n    as-user-extra: {reason: [a test]}\n    token:";
    std::fs::write(&impersonating, std::fs::read_to_string(token).unwrap().replace("token:", fields)).unwrap();
    let mut expected = jane();
    expected["extra"] = json!({"reason": ["a test"]});
    check(&impersonating, &[], &expected);
}

#[test]
fn unauthorized_impersonation_fails_as_it_does_directly() {
    let visitor = Cluster::shared().unwrap().kubeconfig_visitor().unwrap();
    let as_jane = ["get", "--raw", "/api/v1/namespaces", "--as=jane"];
    for output in [direct(&visitor, &as_jane), through_watchtap(&visitor, &as_jane)] {
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(r#"User "visitor" cannot impersonate resource "users""#), "{said}");
    }
}

fn jane() -> Value {
    json!({"username": "jane", "uid": "42", "groups": ["developers", "system:authenticated"]})
}

#[track_caller]
fn check(kubeconfig: &Path, flags: &[&str], expected: &Value) {
    let whoami = [&["auth", "whoami", "-o", "json"], flags].concat();
    for output in [direct(kubeconfig, &whoami), through_watchtap(kubeconfig, &whoami)] {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let review: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(&review["status"]["userInfo"], expected);
    }
}

fn direct(kubeconfig: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(kubectl().expect("these tests need kubectl on the PATH"));
    output_within(command.args(arguments).env("KUBECONFIG", kubeconfig), LIMIT).unwrap()
}

fn through_watchtap(kubeconfig: &Path, arguments: &[&str]) -> Output {
    let kubectl = kubectl().expect("these tests need kubectl on the PATH");
    let mut command = watchtap().unwrap();
    command.args(["exec", "--"]).arg(kubectl).args(arguments).env("KUBECONFIG", kubeconfig);
    output_within(&mut command, LIMIT).unwrap()
}
