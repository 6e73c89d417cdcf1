//! Probes with different rights beside the same clients. Each observes exactly those that `--check` reports as seen in its container.

use observer_tests::node::{InPod, Node, PodSecurity};
use observer_tests::pod_client::PodClient;
use serde_json::Value;

use super::pod::{capabilities, pod_for_older_kernels, pod_without};
use super::report::{report_in_the_log, requests};
use super::witness::Witness;
use crate::chart::installed::{eventually, expect};
use crate::sidecar::follower::{Follower, wait_for_stores};
use crate::sidecar::stage::Stage;

/// Clients in pods, of a user without rights. Their connections are older than the probes.
const GO: (PodClient, &str) = (PodClient::ClientGo, "http2");
const PYTHON: (PodClient, &str) = (PodClient::Python, "http1");
/// Clients on the node, by their user agents.
const OTHER_USER: &str = "of-another-user";
const DELETED: &str = "of-a-deleted-library";
const REQUESTS: usize = 3;

/// The clients, by their user agents.
const AGENTS: [&str; 4] = [GO.1, PYTHON.1, OTHER_USER, DELETED];
/// The probes. Each client is observed only by those with the rights for it.
const PROBES: [(&str, Rights, [bool; 4]); 6] = [
    ("with-all", Rights::All, [true, true, true, true]),
    ("with-all-too", Rights::All, [true, true, true, true]),
    ("without-ptrace", Rights::AllBut("SYS_PTRACE"), [false, false, false, false]),
    // Without sockets of other processes, the header fields on an older HTTP/2 connection stay unknown.
    ("without-search", Rights::AllBut(SEARCH), [false, true, false, true]),
    ("without-restore", Rights::AllBut("CHECKPOINT_RESTORE"), [true, true, true, false]),
    ("by-perf-events", Rights::ForOlderKernels, [true, true, true, true]),
];
const SEARCH: &str = "DAC_READ_SEARCH";
/// How kernels before 6.6 attach the programs.
const BY_PERF_EVENTS: &str = "--attach-by=event-links";

/// The capabilities of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rights {
    All,
    AllBut(&'static str),
    /// With `probe.olderKernels`. The programs are attached as on those kernels.
    ForOlderKernels,
}

#[test]
fn each_probe_observes_the_clients_that_its_check_names_and_two_count_the_same() {
    let node = Node::alone().unwrap();
    let stage = Stage::with_objects(&node, "coverage", PodSecurity::Privileged);
    let mut followers: Vec<_> = [GO, PYTHON].into_iter().map(|client| start(&stage, client)).collect();
    wait_for_stores(&stage, &mut followers);
    let mut witnesses = [Witness::of_another_user(&node), Witness::of_a_deleted_library(&node)];
    for (name, rights, _) in PROBES {
        stage.namespace.apply(&probe(rights, name).to_string()).unwrap();
    }
    for (name, ..) in PROBES {
        stage.namespace.wait(&format!("pod/{name}"), "condition=Ready").unwrap();
    }

    let token = stage.namespace.kubectl(&["create", "token", "informer"]).unwrap();
    let path = format!("/api/v1/namespaces/{}/configmaps", stage.namespace.name());
    let in_pods = [GO, PYTHON].map(|(_, agent)| (agent, gets(&stage, agent)));
    for _ in 0..REQUESTS {
        for (witness, agent) in witnesses.iter_mut().zip([OTHER_USER, DELETED]) {
            witness.get(&path, agent, token.trim());
        }
    }
    for (agent, before) in in_pods {
        eventually(|| expect(&(gets(&stage, agent) >= before + REQUESTS), &true));
    }

    let in_pods = [GO, PYTHON].map(|(_, pod)| stage.namespace.process(pod, InPod::Container("app")).unwrap());
    let processes = [in_pods, witnesses.each_ref().map(Witness::pid)].concat();
    for (name, rights, observed) in PROBES {
        let check = stage.namespace.exec(name, "watchtap", &["/watchtap", "probe", "--check", "--format", "json"]).unwrap();
        let check: Value = serde_json::from_str(&check).unwrap();
        let report = end(&stage, name);
        let counted = AGENTS.map(|agent| requests(&report, agent));
        assert_eq!(counted.map(|requests| requests > 0), observed, "{name}: {report}");
        // These have sent a known number of requests, so all probes that observe them count the same.
        let sent = observed.map(|is_observed| if is_observed { REQUESTS } else { 0 });
        assert_eq!(counted[2..], sent[2..], "{name}: {report}");

        let mut seen: Vec<bool> = processes.iter().map(|pid| sees(&check, *pid)).collect();
        let unseen: Vec<&str> = unseen(&check).collect();
        // Its library is probed, but nothing shows to which connection header fields belong.
        let without_fields =
            unseen.iter().any(|unseen| unseen.contains("header fields on HTTP/2 connections that were open before"));
        assert_eq!(without_fields, rights == Rights::AllBut(SEARCH), "{unseen:?}");
        seen[0] &= !without_fields;
        assert_eq!(seen, observed, "{name}: {check}");
    }
}

#[test]
fn perf_events_need_the_right_that_the_chart_adds_for_older_kernels() {
    let node = Node::shared().unwrap();
    let stage = Stage::empty(&node, "perf-events", PodSecurity::Privileged);
    let mut pod = probe(Rights::ForOlderKernels, "without-admin");
    capabilities(&mut pod).retain(|capability| capability != "SYS_ADMIN");
    stage.namespace.apply(&pod.to_string()).unwrap();
    // The check has found that this kernel has a better way, which the flag forbids.
    stage.namespace.wait("pod/without-admin", "condition=Ready").unwrap();
    let report = end(&stage, "without-admin");
    let missed = &report["missed"];
    let why = missed["last_not_probed"].as_str().unwrap_or_default();
    assert!(missed["not_probed"].as_u64() > Some(1) && why.ends_with("Permission denied (os error 13)"), "{report}");
    assert_eq!(report["totals"]["requests"], 0, "{report}");
}

fn start<'s>(stage: &'s Stage<'_>, (client, name): (PodClient, &'static str)) -> Follower<'s> {
    // The group needs go and python3.
    stage.load(client).unwrap();
    stage.namespace.apply(&Stage::pod(client, name)).unwrap();
    Follower::start(stage, name, "app", name)
}

/// The number of requests of a client in a pod for one object.
fn gets(stage: &Stage<'_>, agent: &str) -> usize {
    stage.calls(agent).count("get")
}

/// The pod of a probe that asks the API server for nothing, and ends with a report.
fn probe(rights: Rights, name: &str) -> Value {
    let mut pod = match rights {
        Rights::All => pod_without(None, name),
        Rights::AllBut(removed) => pod_without(Some(removed), name),
        Rights::ForOlderKernels => pod_for_older_kernels(name),
    };
    pod["spec"]["restartPolicy"] = "Never".into();
    let container = &mut pod["spec"]["containers"][0];
    // All of them run at the same time.
    container["resources"]["requests"]["cpu"] = "100m".into();
    let fixed = ["--no-endpoint-slice-request", "--no-version-request", "--no-metrics-request", "--format=json"];
    let by = (rights == Rights::ForOlderKernels).then_some(BY_PERF_EVENTS);
    container["args"].as_array_mut().unwrap().extend(fixed.into_iter().chain(by).map(Value::from));
    pod
}

/// Ends a probe, and returns its report.
#[track_caller]
fn end(stage: &Stage<'_>, pod: &str) -> Value {
    stage.namespace.signal(pod, InPod::Container("watchtap"), "SIGTERM").unwrap();
    stage.namespace.wait(&format!("pod/{pod}"), "jsonpath={.status.phase}=Succeeded").unwrap();
    report_in_the_log(stage, pod)
}

/// Whether a probe sees the TLS library of a process, as the check reports.
fn sees(check: &Value, pid: u32) -> bool {
    let files = check["files"].as_array().unwrap().iter().filter(|file| file["seen"] == "Fully");
    files.flat_map(|file| file["processes"].as_array().unwrap()).any(|process| process["pid"] == pid)
}

/// The losses that the check reports, one for each right that is missing.
fn unseen(check: &Value) -> impl Iterator<Item = &str> {
    check["requirements"].as_array().unwrap().iter().filter_map(|row| row["unseen"].as_str())
}
