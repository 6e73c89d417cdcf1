//! Users with exec plugins and `watchtap exec`. The test is the client: it runs the plugin that the copied kubeconfig names.

use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};

use observer_tests::{ExecSession, Lines, output_within, wait_within};
use rcgen::{CertificateParams, KeyPair};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use super::exec_cli::{LIMIT, TestHome};
use super::upstream::Upstream;

#[test]
fn plugin_token_is_passed_through_unchanged() {
    let token = "{ \"kind\":\"ExecCredential\" , \"status\":{\"token\":\"t0ken\"}}\n\n";
    let session = session(&["printf", "%s", token]);
    let output = run(&session, None);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), token.to_owned()));
}

#[test]
fn invalid_plugin_output_is_passed_through_unchanged() {
    for rubbish in ["", "rubbish", "{\"status\":{\"clientCertificateData\":\"alone\"}}"] {
        assert_eq!(text(&run(&session(&["printf", "%s", rubbish]), None).stdout), rubbish);
    }
}

#[test]
fn plugin_exit_code_and_stderr_are_passed_through() {
    let output = run(&session(&["sh", "-c", "echo because >&2; echo half; exit 7"]), None);
    assert_eq!(
        (output.status.code(), text(&output.stdout), text(&output.stderr)),
        (Some(7), String::new(), "because\n".to_owned())
    );
    assert_eq!(run(&session(&["sh", "-c", "kill -KILL $$"]), None).status.code(), Some(137));
}

#[test]
fn missing_plugin_is_named() {
    let output = run(&session(&["no-such-plugin"]), None);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no-such-plugin"), "{output:?}");
}

#[test]
fn plugin_with_unbounded_output_is_killed() {
    let output = run(&session(&["yes"]), None);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(text(&output.stderr).contains("more than"), "{output:?}");
}

#[test]
fn plugin_inherits_environment_and_stdin_of_the_client() {
    let session = session(&["sh", "-c", "read -r line; echo \"$OF_THE_KUBECONFIG $line\""]);
    let mut command = session.exec_plugin().unwrap();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"typed\n").unwrap();
    let lines = Lines::of(child.stdout.take().unwrap(), LIMIT);
    assert_eq!(lines.next_line().unwrap().as_deref(), Some("kept typed"));
    assert!(wait_within(&mut child, LIMIT).unwrap().success());
}

#[test]
fn ctrl_c_kills_a_hanging_plugin() {
    let session = session(&["sh", "-c", "echo runs >&2; exec sleep 1000"]);
    let mut command = session.exec_plugin().unwrap();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0).spawn().unwrap();
    let lines = Lines::of(child.stderr.take().unwrap(), LIMIT);
    assert_eq!(lines.next_line().unwrap().as_deref(), Some("runs"));
    kill_process_group(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(wait_within(&mut child, LIMIT).unwrap().code(), None, "ended by the signal");
    assert_eq!(lines.next_line().unwrap(), None, "the plugin's end closes the pipe");
}

#[test]
fn plugin_receives_the_original_cluster() {
    let session = session(&["sh", "-c", "printf %s \"$KUBERNETES_EXEC_INFO\""]);
    let ours = json!({"server": session.server().unwrap(), "certificate-authority-data": "b3Vycw==", "config": {"a": 1}});
    let info = json!({"kind": "ExecCredential", "spec": {"interactive": false, "cluster": ours}});
    let received: Value = serde_json::from_slice(&run(&session, Some(&info.to_string())).stdout).unwrap();
    let cluster = &received["spec"]["cluster"];
    assert_ne!(cluster["server"], ours["server"]);
    assert!(cluster["server"].as_str().unwrap().starts_with("https://127.0.0.1:"), "{received}");
    assert_ne!(cluster["certificate-authority-data"], ours["certificate-authority-data"]);
    assert_eq!((&cluster["config"], &received["spec"]["interactive"]), (&json!({"a": 1}), &json!(false)));

    let silent = r#"{"kind":"ExecCredential","spec":{"interactive":true}}"#;
    assert_eq!(text(&run(&session, Some(silent)).stdout), silent);
}

#[test]
fn plugin_certificate_is_replaced_by_a_private_one() {
    let (certificate, key) = identity();
    let credential = credential(&certificate, &key).to_string();
    let session = session(&["printf", "%s", &credential]);
    let given = run(&session, None);
    let given: Value = serde_json::from_slice(&given.stdout).unwrap_or_else(|error| panic!("{error}: {given:?}"));
    let status = &given["status"];
    assert_eq!(status["expirationTimestamp"], "2030-01-01T00:00:00Z");
    assert!(status["clientCertificateData"].as_str().unwrap().starts_with("-----BEGIN CERTIFICATE"));
    assert_ne!(status["clientCertificateData"], Value::from(certificate));
    assert_ne!(status["clientKeyData"], Value::from(key.clone()));
    let again: Value = serde_json::from_slice(&run(&session, None).stdout).unwrap();
    assert_eq!(again, given, "the same for the same");
    let finished = session.finish().unwrap();
    let secret = key.lines().nth(1).unwrap();
    assert!(!format!("{finished:?}").contains(secret));
}

#[test]
fn unusable_plugin_certificate_is_refused_without_being_shown() {
    let ((certificate, _), (_, key)) = (identity(), identity());
    let output = run(&session(&["printf", "%s", &credential(&certificate, &key).to_string()]), None);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let said = text(&output.stderr);
    assert!(said.contains("client certificate of the exec plugin") && !said.contains(key.lines().nth(1).unwrap()), "{said}");
}

#[test]
fn plugin_after_the_run_reports_that_it_is_over() {
    let session = session(&["printf", "t"]);
    let mut command = session.exec_plugin().unwrap();
    session.finish().unwrap();
    let output = output_within(&mut command, LIMIT).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("has ended"), "{output:?}");
}

#[test]
fn help_hides_the_credential_command() {
    let help = output_within(&mut TestHome::new().command(&["--help"]), LIMIT).unwrap();
    assert!(!text(&help.stdout).contains("credential"), "{help:?}");
}

/// A session whose user has the plugin `command`.
#[track_caller]
fn session(command: &[&str]) -> ExecSession {
    let place = TestHome::new();
    ExecSession::start(&place.write("kubeconfig", &kubeconfig(&Upstream::start(), command)), &[]).unwrap()
}

/// A kubeconfig for `upstream` whose user has the plugin `command`.
#[track_caller]
pub(super) fn kubeconfig(upstream: &Upstream, command: &[&str]) -> String {
    let (program, arguments) = command.split_first().unwrap();
    let exec = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "command": program, "args": arguments, "interactiveMode": "IfAvailable",
        "provideClusterInfo": true, "env": [{"name": "OF_THE_KUBECONFIG", "value": "kept"}],
    });
    let token = format!("token: {}", super::upstream::TOKEN);
    upstream.kubeconfig().replace(&token, &format!("exec: {exec}"))
}

/// Runs the plugin of the copied kubeconfig as a client does.
#[track_caller]
fn run(session: &ExecSession, info: Option<&str>) -> Output {
    let mut command = session.exec_plugin().unwrap();
    command.stdin(Stdio::null());
    if let Some(info) = info {
        command.env("KUBERNETES_EXEC_INFO", info);
    }
    output_within(&mut command, LIMIT).unwrap()
}

fn credential(certificate: &str, key: &str) -> Value {
    let status = json!({"clientCertificateData": certificate, "clientKeyData": key, "expirationTimestamp": "2030-01-01T00:00:00Z"});
    json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status})
}

fn identity() -> (String, String) {
    let key = KeyPair::generate().unwrap();
    (CertificateParams::default().self_signed(&key).unwrap().pem(), key.serialize_pem())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
