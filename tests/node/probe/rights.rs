//! The rights of the chart's pods, in real containers: with all of them nothing is lost, and without one of them what `--check` reports.

use observer_tests::node::{Node, PodSecurity};
use serde_json::json;

use super::pod::{CAPABILITIES, pod_without};
use super::report::report_in_the_log;
use super::witness::Witness;
use crate::sidecar::stage::Stage;

/// The node of the tests is a container itself, as that of kind: it has a PID namespace of its own.
const NAMESPACE: &str = "initial PID namespace";
const LOADED: &str = "eBPF programs are loaded";
const ATTACHED: &str = "uprobes are attached";

/// A container without one capability, and the result of the check in it.
struct Case {
    removed: Option<&'static str>,
    /// The requirements without which no probe works.
    missing: &'static [&'static str],
    /// The requirements without which a probe sees less.
    limits: &'static [&'static str],
    /// Whether the library of another user is seen, and the one that was deleted.
    seen: [bool; 2],
}

const CASES: [Case; 6] = [
    Case { removed: None, missing: &[], limits: &[NAMESPACE], seen: [true, true] },
    Case { removed: Some("BPF"), missing: &["CAP_BPF", LOADED], limits: &[NAMESPACE], seen: [true, true] },
    Case { removed: Some("PERFMON"), missing: &["CAP_PERFMON", ATTACHED], limits: &[NAMESPACE], seen: [true, true] },
    Case { removed: Some("SYS_PTRACE"), missing: &[], limits: &["CAP_SYS_PTRACE", NAMESPACE], seen: [false, false] },
    Case { removed: Some("DAC_READ_SEARCH"), missing: &[], limits: &["CAP_DAC_READ_SEARCH", NAMESPACE], seen: [false, true] },
    Case {
        removed: Some("CHECKPOINT_RESTORE"),
        missing: &[],
        limits: &["CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE", NAMESPACE],
        seen: [true, false],
    },
];

#[test]
fn each_capability_of_the_chart_is_needed_for_what_the_check_names() {
    assert_eq!(CASES.map(|case| case.removed)[1..], CAPABILITIES.map(Some));
    let node = Node::shared().unwrap();
    let stage = Stage::empty(&node, "rights", PodSecurity::Privileged);
    let witnesses = [Witness::of_another_user(&node), Witness::of_a_deleted_library(&node)];
    for case in &CASES {
        let mut pod = pod_without(case.removed, &name(case));
        pod["spec"]["restartPolicy"] = "Never".into();
        let container = pod["spec"]["containers"][0].as_object_mut().unwrap();
        container.insert("args".to_owned(), json!(["probe", "--check", "--format", "json"]));
        container.remove("readinessProbe").unwrap();
        stage.namespace.apply(&pod.to_string()).unwrap();
        // One after the other: each reads all programs of the node.
        check(&stage, case, &witnesses);
    }
}

#[track_caller]
fn check(stage: &Stage<'_>, case: &Case, witnesses: &[Witness; 2]) {
    let name = name(case);
    let phase = if case.missing.is_empty() { "Succeeded" } else { "Failed" };
    stage.namespace.wait(&format!("pod/{name}"), &format!("jsonpath={{.status.phase}}={phase}")).unwrap();
    let found = report_in_the_log(stage, &name);
    let with_state = |state: &str| -> Vec<&str> {
        let rows = found["requirements"].as_array().unwrap().iter().filter(|row| row["state"] == state);
        rows.map(|row| row["name"].as_str().unwrap()).collect()
    };
    assert_eq!((with_state("Missing"), with_state("Limits")), (case.missing.to_vec(), case.limits.to_vec()), "{name}: {found:#}");
    if case.missing.is_empty() {
        assert_eq!(with_state("NotKnown"), [""; 0], "{name}: {found:#}");
    }
    let files = found["files"].as_array().unwrap();
    let seen = witnesses.each_ref().map(|witness| {
        files.iter().any(|file| file["name"].as_str().unwrap().contains(witness.library()) && file["seen"] == "Fully")
    });
    assert_eq!(seen, case.seen, "{name}: {found:#}");
    let is_all_examined = found["not_examined"].as_array().unwrap().is_empty();
    assert_eq!(is_all_examined, case.removed != Some("SYS_PTRACE"), "{name}: {found:#}");
}

fn name(case: &Case) -> String {
    case.removed.map_or_else(|| "with-all".to_owned(), |removed| format!("without-{}", removed.to_lowercase().replace('_', "-")))
}
