//! Reports of a run that continues.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::attachable::{Attachable, get, stderr, stdout};

#[test]
fn report_is_the_one_that_the_run_writes_at_its_end() {
    // The client stays connected, because the report at the end shows clients as they were when shutdown was requested.
    let host = Attachable::start_with(&["--grace", "1ms"]);
    let mut client = host.client();
    for path in ["/api/v1/pods?resourceVersion=0", "/api/v1/nodes?limit=5", "/api/v1/namespaces/a/secrets"] {
        get(&mut client, path);
    }
    let mut report = report(&host);
    while report["requests"].as_array().unwrap().iter().filter(|request| request["end"] == "complete").count() != 3 {
        report = self::report(&host);
    }
    let text = stdout(&host.attach(&[]));
    assert!(text.starts_with("watchtap run   API server: version v1.34.4"), "{text}");
    let markdown = stdout(&host.attach(&["--format", "markdown"]));
    assert!(markdown.contains("**Not observed:**"), "{markdown}");
    let own = without_times(host.run.finish().unwrap());
    for (field, value) in without_times(report).as_object().unwrap() {
        assert_eq!(value, &own[field], "{field}");
    }
}

#[test]
fn report_goes_to_a_private_file() {
    let host = Attachable::start();
    let file = host.folder.path().join("report.json");
    let output = host.attach(&["--report", file.to_str().unwrap(), "--format", "json"]);
    assert_eq!((output.status.code(), stdout(&output), stderr(&output)), (Some(0), String::new(), String::new()));
    let report: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(report["schema"], "watchtap.report/v1");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    host.run.finish().unwrap();
}

#[track_caller]
fn report(host: &Attachable) -> Value {
    let output = host.attach(&["--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// A report without the fields that depend on the time at which it is made. The bytes of a connection count when it closes.
fn without_times(mut report: Value) -> Value {
    for field in ["at", "rates", "shutdown_requested"] {
        report.as_object_mut().unwrap().remove(field);
    }
    for field in ["forwarded", "observed"] {
        report["totals"].as_object_mut().unwrap().remove(field);
    }
    report
}
