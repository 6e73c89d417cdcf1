//! The faults in the report of `watchtap exec --demo`, for controllers that deal with them well and badly.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use observer_tests::{ClientGo, built, output_within, watchtap};
use serde_json::{Value, json};
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_mins(2);
/// A restart resets the watch caches, so clients that resume get 410 if their revision is too old. Each fault leaves time to recover.
/// The restart lasts longer than the second after which Go's HTTP/2 client repeats a request that its old connection did not take.
const SCRIPT: &str = "\
    5s print all watches end cleanly\n\
    5s end-watches\n\
    12s restart for=3s\n\
    30s expire all\n\
    45s wait\n";

#[test]
fn old_client_go_relists_after_a_restart_and_new_one_resumes() {
    let old = played(ClientGo::V0_15.reflector().unwrap());
    let [ended, restart, expired] = &old[..] else { panic!("{old:#?}") };
    assert_eq!((&ended["act"], &ended["note"]), (&json!("end-watches"), &json!("all watches end cleanly")));
    assert_eq!(row(ended)["resumes"], 1, "{ended:#}");
    assert_eq!(row(ended)["relists"], Value::Null, "{ended:#}");
    assert_eq!(row(restart)["causes"], json!({"refused-misread": 1}), "{restart:#}");
    assert!(restart["findings"][0].as_str().is_some_and(|id| id.starts_with("refused-misread:")), "{restart:#}");
    assert_eq!(row(expired)["causes"], json!({"expired/cache-reset": 1}), "{expired:#}");
    let new = played(ClientGo::V0_37.reflector().unwrap());
    assert_eq!((&new[0]["act"], &row(&new[0])["resumes"]), (&json!("end-watches"), &json!(1)), "{new:#?}");
    assert_eq!(row(&new[1])["causes"].get("refused-misread"), None, "{new:#?}");
    assert_eq!(row(&new[2])["relists"], 1, "{new:#?}");
}

#[test]
fn kube_rs_relists_once_after_its_watch_expired() {
    let faults = played(built("kube-reflector").unwrap());
    assert_eq!(row(&faults[0])["resumes"], 1, "{faults:#?}");
    let expired = row(&faults[2]);
    // The watch is cut, and the next one gets 410.
    assert_eq!(expired["watches_ended"], json!({"410 Expired": 1, "ended by the server": 1}), "{expired:#}");
    assert_eq!((&expired["resumes"], &expired["relists"]), (&Value::Null, &json!(1)), "{expired:#}");
}

/// The faults in the report of a program that keeps config maps. The report of the capture has the same ones.
fn played(program: PathBuf) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.script"), SCRIPT).unwrap();
    let mut exec = watchtap().unwrap();
    exec.args(["exec", "--format", "json", "--report"]).arg(path("report.json")).arg("--capture").arg(path("run.cap"));
    exec.arg("--demo").arg(path("a.script")).arg("--").arg(program).args(["default", "my-controller/1"]);
    let output = output_within(exec.env_remove("KUBECONFIG").current_dir(folder.path()), LIMIT).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&fs::read(path("report.json")).unwrap()).unwrap();
    let mut read = watchtap().unwrap();
    let replayed = output_within(read.args(["read", "--format", "json"]).arg(path("run.cap")), LIMIT).unwrap();
    let replayed: Value = serde_json::from_slice(&replayed.stdout).unwrap();
    assert_eq!(report["faults"], replayed["faults"]);
    report["faults"]["latest"].as_array().unwrap().clone()
}

/// The row of config maps.
#[track_caller]
fn row(fault: &Value) -> &Value {
    let rows = fault["clients"].as_array().unwrap_or_else(|| panic!("no client was affected: {fault:#}"));
    rows.iter().find(|row| row["resource"] == "configmaps").unwrap_or_else(|| panic!("nothing on config maps: {fault:#}"))
}
