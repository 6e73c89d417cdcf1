//! Exec plug-ins with kubectl: the user identity through watchtap equals the direct one.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use observer_tests::{Cluster, kubectl, output_within, watchtap};

const LIMIT: Duration = Duration::from_mins(1);
const WHOAMI: [&str; 4] = ["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"];

#[test]
fn token_of_a_plug_in_arrives() {
    check(&Cluster::shared().unwrap().kubeconfig_exec_token().unwrap(), "admin");
}

#[test]
fn certificate_of_a_plug_in_arrives() {
    check(&Cluster::shared().unwrap().kubeconfig_exec_certificate().unwrap(), "certificate-admin");
}

#[test]
fn failure_of_a_plug_in_reads_as_without_us() {
    let kubeconfig = Cluster::shared().unwrap().kubeconfig_exec_token().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("kubeconfig");
    let text = std::fs::read_to_string(kubeconfig).unwrap().replace("echo run", "echo no luck >&2; exit 7; echo run");
    std::fs::write(&broken, text).unwrap();
    for output in [direct(&broken), behind_us(&broken)] {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("no luck") && said.contains("failed with exit code 7"), "{said}");
    }
}

#[track_caller]
fn check(kubeconfig: &Path, user: &str) {
    for output in [direct(kubeconfig), behind_us(kubeconfig)] {
        assert_eq!(String::from_utf8_lossy(&output.stdout), user, "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn direct(kubeconfig: &Path) -> Output {
    let mut command = Command::new(kubectl().expect("these tests need kubectl on the PATH"));
    output_within(command.args(WHOAMI).env("KUBECONFIG", kubeconfig), LIMIT).unwrap()
}

fn behind_us(kubeconfig: &Path) -> Output {
    let kubectl = kubectl().expect("these tests need kubectl on the PATH");
    let mut command = watchtap().unwrap();
    output_within(command.args(["exec", "--"]).arg(kubectl).args(WHOAMI).env("KUBECONFIG", kubeconfig), LIMIT).unwrap()
}
