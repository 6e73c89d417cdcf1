//! Records of `--otlp` hold no canary of the traffic, and the token of a collector appears nowhere but in its requests.

use std::process::Stdio;

use observer_tests::{OtlpReceiver, OtlpReply, Port, ScriptedUpstream, wait_within};
use prost::Message;
use rustix::process::{Pid, Signal, kill_process};

use super::commands::{LIMIT, Scene};
use super::runs;
use super::secrets::secret;

#[test]
fn exported_records_hold_no_canary() {
    let token = secret("otlp header");
    let quoting = format!("Bearer {token} has no quota: {token}");
    let receiver = OtlpReceiver::start(0, [OtlpReply::Reject(1, quoting)]).unwrap();
    let scene = exporting_to(&receiver.url());
    let mut child = scene.start(&runs::RUN_EXPORTING, Stdio::null());
    let kubeconfig = scene.announced_kubeconfig(&runs::RUN_EXPORTING, &mut child);
    Scene::converse(&kubeconfig);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(wait_within(&mut child, LIMIT).unwrap().success());
    scene.assert_clean("run with an export");
    let said = scene.output_of("run with an export");
    assert!(said.contains("1 refused (REDACTED has no quota: REDACTED)"), "{said}");
    let requests = receiver.requests();
    assert!(!receiver.spans().is_empty(), "refused requests have spans");
    for span in receiver.spans() {
        assert_eq!(scene.hits(&span.encode_to_vec()), Vec::<String>::new(), "{}", span.name);
    }
    let metrics = receiver.last_metrics();
    assert!(format!("{metrics:?}").contains("canary"), "metrics name the client");
    for metric in metrics {
        assert_eq!(scene.hits(&metric.encode_to_vec()), Vec::<String>::new(), "{}", metric.name);
    }
    assert!(requests.iter().all(|request| request.headers["authorization"] == format!("Bearer {token}")));
    let records: Vec<_> = requests.iter().flat_map(|request| &request.records).collect();
    assert!(records.iter().any(|record| format!("{record:?}").contains("canary/1.0")), "records name the client");
    for record in records {
        assert_eq!(scene.hits(&record.encode_to_vec()), Vec::<String>::new(), "{}", record.event_name);
    }
}

#[test]
fn failing_export_does_not_show_the_token() {
    let port = Port::reserve().unwrap();
    let closes = ScriptedUpstream::start(&[b"http/1.1"], |_stream| Ok(())).unwrap();
    for url in [
        format!("http://127.0.0.1:{}", port.number()),
        // Neither of the two is trusted, and neither speaks the protocol.
        format!("https://{}", closes.address()),
        format!("http://{}", closes.address()),
    ] {
        let scene = exporting_to(&url);
        scene.run_to_its_end(&runs::EXEC_EXPORTING);
        scene.assert_clean(&url);
        let said = scene.output_of("exec with an export");
        assert!(said.contains(&format!("did not reach {url}")), "{said}");
    }
}

#[test]
fn unusable_variables_are_not_quoted() {
    let token = secret("otlp header");
    for (variable, value, expected) in [
        ("OTEL_EXPORTER_OTLP_HEADERS", token.clone(), "expected key=value pairs"),
        ("OTEL_EXPORTER_OTLP_HEADERS", format!("a b={token}"), "expected key=value pairs"),
        ("OTEL_EXPORTER_OTLP_HEADERS", format!("a={token}%0a"), "expected key=value pairs"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{token}@x"), "a user name in the URL"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://x/?{token}"), "a query in the URL"),
    ] {
        let mut scene = Scene::new();
        scene.variables = vec![(variable, value)];
        scene.run_to_its_end(&runs::EXEC_EXPORTING);
        scene.assert_clean(variable);
        let said = scene.output_of("exec with an export");
        assert!(said.contains(&format!("{variable}: {expected}")), "{said}");
    }
}

fn exporting_to(url: &str) -> Scene {
    let mut scene = Scene::new();
    let headers = format!("authorization=Bearer%20{}", secret("otlp header"));
    scene.variables = vec![("OTEL_EXPORTER_OTLP_ENDPOINT", url.to_owned()), ("OTEL_EXPORTER_OTLP_HEADERS", headers)];
    scene
}
