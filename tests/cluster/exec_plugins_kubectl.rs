//! Exec plugins with kubectl: the user identity through watchtap equals the direct one.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use observer_tests::{Cluster, kubectl, output_within, watchtap};

const LIMIT: Duration = Duration::from_mins(1);
const WHOAMI: [&str; 4] = ["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"];

#[test]
fn kubectl_authenticates_with_a_plugin_token() {
    check(&Cluster::shared().unwrap().kubeconfig_exec_token().unwrap(), "admin");
}

#[test]
fn kubectl_authenticates_with_a_plugin_certificate() {
    check(&Cluster::shared().unwrap().kubeconfig_exec_certificate().unwrap(), "certificate-admin");
}

#[test]
fn kubectl_reports_a_plugin_failure_as_it_does_directly() {
    let kubeconfig = Cluster::shared().unwrap().kubeconfig_exec_token().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("kubeconfig");
    let text = std::fs::read_to_string(kubeconfig).unwrap().replace("echo run", "echo no luck >&2; exit 7; echo run");
    std::fs::write(&broken, text).unwrap();
    for output in [direct(&broken), through_watchtap(&broken)] {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("no luck") && said.contains("failed with exit code 7"), "{said}");
    }
}

#[track_caller]
fn check(kubeconfig: &Path, user: &str) {
    for output in [direct(kubeconfig), through_watchtap(kubeconfig)] {
        assert_eq!(String::from_utf8_lossy(&output.stdout), user, "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn direct(kubeconfig: &Path) -> Output {
    let mut command = Command::new(kubectl().expect("these tests need kubectl on the PATH"));
    output_within(command.args(WHOAMI).env("KUBECONFIG", kubeconfig), LIMIT).unwrap()
}

fn through_watchtap(kubeconfig: &Path) -> Output {
    let kubectl = kubectl().expect("these tests need kubectl on the PATH");
    let mut command = watchtap().unwrap();
    output_within(command.args(["exec", "--"]).arg(kubectl).args(WHOAMI).env("KUBECONFIG", kubeconfig), LIMIT).unwrap()
}
