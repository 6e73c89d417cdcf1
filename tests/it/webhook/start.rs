//! Settings with which no webhook starts.

use std::time::Duration;

use observer_tests::{output_within, watchtap};

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn missing_setting_is_named() {
    let service = ["--image", "a", "--service", "watchtap.watchtap-system", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"];
    let with = |more: &[&'static str]| -> Vec<String> { service.iter().chain(more).map(|&word| word.to_owned()).collect() };
    let words = |words: &[&str]| -> Vec<String> { words.iter().map(|&word| word.to_owned()).collect() };
    for (arguments, code, reason) in [
        (words(&["--image", "a"]), 2, "--service <NAME.NAMESPACE>"),
        (words(&["--image", "a", "--service", "watchtap", "--configuration", "watchtap"]), 2, "write NAME.NAMESPACE"),
        (with(&[]), 2, "--configuration <NAME>"),
        (with(&["--configuration", "a", "--certificate", "b"]), 2, "cannot be used with"),
        (with(&["--configuration", "a", "--limits", "memory=16Mi"]), 2, "--limits gives less memory than a sidecar needs"),
        (with(&["--configuration", "watchtap"]), 1, "the webhook runs in a pod, or with --certificate"),
    ] {
        let mut command = watchtap().unwrap();
        command.arg("webhook").args(&arguments).env_remove("KUBERNETES_SERVICE_HOST");
        let output = output_within(&mut command, LIMIT).unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(reason), "{arguments:?}: {stderr}");
    }
}

#[test]
fn port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for flag in ["--listen", "--metrics"] {
        let mut command = watchtap().unwrap();
        let other = if flag == "--listen" { "--metrics" } else { "--listen" };
        command.args(["webhook", "--image", "a", "--service", "a.b", "--certificate", "/nonexistent", other, "127.0.0.1:0", flag]);
        let output = output_within(command.arg(&address), LIMIT).unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.starts_with(&format!("watchtap: cannot listen on {address} ({flag})")), "{stderr}");
    }
}
