//! The probe of the chart beside real clients: their names, their relists as their sidecars count them, and its own requests.

use std::net::IpAddr;
use std::path::Path;

use observer_tests::built;
use observer_tests::node::{InPod, Node, PodSecurity};
use observer_tests::pod_client::PodClient;
use observer_tests::scrape::Scraper;
use serde_json::{Value, json};

use super::examined::examine;
use super::page;
use super::pod::CPU;
use super::report::{pod_of, report};
use super::static_pod::StaticPod;
use crate::chart::installed::{IMAGE, Installed, eventually, expect, run};
use crate::sidecar::follower::{Follower, wait_for_stores};
use crate::sidecar::stage::{Stage, inject};

/// Clients whose connections lead to the API server.
const DIRECT: [(PodClient, &str); 2] = [(PodClient::ClientGo, "go-direct"), (PodClient::Python, "python-direct")];
/// Clients whose connections lead to their sidecars.
const BESIDE: [(PodClient, &str); 2] = [(PodClient::ClientGo, "go-sidecar"), (PodClient::Python, "python-sidecar")];
/// Where `inject` leads the clients of a first container. Probes do not follow these connections, unless the address is given.
const SIDECAR: &str = "127.0.0.1:16443";
const STATIC: &str = "from-a-file";
/// Whether a client relists depends on chance, while the API server starts.
const RESTARTS: usize = 3;

#[test]
fn probe_names_the_clients_of_a_node_and_counts_their_relists_as_their_sidecars_do() {
    let node = Node::alone().unwrap();
    let stage = Stage::with_objects(&node, "observed", PodSecurity::Privileged);
    stage.load_watchtap(IMAGE);
    for (client, _) in DIRECT {
        stage.load(client).expect("the group needs go and python3");
    }
    let installed = installed(&node);
    let probe =
        Probe { node: &node, namespace: installed.namespace.name(), pod: pod_of(&node, installed.namespace.name(), "probe") };

    examine(&stage, DIRECT[0].0, (probe.namespace, &probe.pod));
    let static_pod = StaticPod::start(&stage, PodClient::ClientGo, STATIC);
    for (client, name) in DIRECT {
        stage.namespace.apply(&Stage::pod(client, name)).unwrap();
    }
    for (client, name) in BESIDE {
        stage.namespace.apply(&inject(&Stage::pod(client, name))).unwrap();
    }
    let pods = DIRECT.iter().chain(&BESIDE).map(|(_, name)| *name);
    let mut followers: Vec<_> = pods.map(|pod| Follower::start(&stage, pod, "app", pod)).collect();
    wait_for_stores(&stage, &mut followers);
    probe.names_pods(stage.namespace.name(), &static_pod);
    for (_, name) in DIRECT.iter().chain(&BESIDE) {
        probe.numbers_as_the_node(&stage, name);
    }
    probe.shows(stage.namespace.name(), DIRECT[0].1);

    // Its connection is older than the probe, and its next watches may begin after minutes.
    node.restart_kubelet().unwrap();
    eventually(|| probe.names_the_kubelet());

    for _ in 0..RESTARTS {
        node.restart_api_server().unwrap();
        wait_for_stores(&stage, &mut followers);
        for (_, name) in BESIDE {
            eventually(|| expect(&probe.relists(name)?, &sidecar_relists(&stage, name)?));
        }
        if BESIDE.iter().all(|(_, name)| sidecar_relists(&stage, name).is_ok_and(|relists| relists > 0)) {
            break;
        }
    }
    for (_, name) in BESIDE {
        assert_ne!(sidecar_relists(&stage, name).unwrap(), 0, "{name} relists after none of {RESTARTS} restarts");
    }
    requests_no_list_and_no_watch(&node, &installed.namespace.user("watchtap-probe"));
}

/// The chart with a probe that has labels for pods, and follows the connections to sidecars, too.
fn installed(node: &Node) -> Installed<'_> {
    let values = [
        "webhook.enabled=false",
        "probe.enabled=true",
        &format!("probe.resources.requests.cpu={CPU}"),
        &format!("probe.apiServers={{{SIDECAR}}}"),
        "probe.extraArguments={--metrics-client-label=namespace,--metrics-client-label=pod}",
    ];
    Installed::with(node, ("observing", PodSecurity::Privileged), &values)
}

/// The pod of the probe on the node.
struct Probe<'n> {
    node: &'n Node,
    namespace: &'n str,
    pod: String,
}

impl Probe<'_> {
    /// Waits until report and metrics have the name of each pod.
    #[track_caller]
    fn names_pods(&self, namespace: &str, static_pod: &StaticPod<'_>) {
        let expected = |name: &str, workload: &Value| json!({"namespace": namespace, "name": name, "workload": workload});
        for (_, name) in DIRECT.iter().chain(&BESIDE) {
            eventually(|| {
                self.pod_of(name).and_then(|pod| expect(&(&pod["namespace"], &pod["name"]), &(&namespace.into(), &(*name).into())))
            });
            eventually(|| self.has_metrics(name, namespace, name));
        }
        let workload = json!({"name": static_pod.workload, "kind": "StaticPod"});
        let of_static = expected(&static_pod.name, &workload);
        eventually(|| expect(&self.pod_of(static_pod.workload)?, &of_static));
        eventually(|| self.has_metrics(static_pod.workload, namespace, &static_pod.name));
    }

    /// Whether a reflector of the kubelet is in the report, as a process of the node, and in the metrics.
    fn names_the_kubelet(&self) -> Result<(), String> {
        let process = self.row("kubelet")?["process"].clone();
        expect(&(&process["name"], &process["container"]), &(&"kubelet".into(), &Value::Null))?;
        self.has_metrics("kubelet", "", "")
    }

    /// The client is in a PID namespace of its own, as each container without `hostPID`, and the report has its PID on the node.
    #[track_caller]
    fn numbers_as_the_node(&self, stage: &Stage<'_>, pod: &str) {
        let process = stage.namespace.process(pod, InPod::Container("app")).unwrap();
        let mut readlink = self.node.command(Path::new("readlink")).unwrap();
        readlink.args([format!("/proc/{process}/ns/pid"), "/proc/self/ns/pid".to_owned()]);
        let namespaces = run(readlink);
        let [of_client, of_node] = namespaces.lines().collect::<Vec<_>>()[..] else { panic!("{namespaces}") };
        assert_ne!(of_client, of_node, "{pod}");
        assert_eq!(self.row(pod).unwrap()["process"]["pid"], process, "{pod}");
    }

    /// The pod of the process of a client.
    fn pod_of(&self, program: &str) -> Result<Value, String> {
        Ok(self.row(program)?["process"]["container"]["pod"].clone())
    }

    /// The reflector of the client with this program.
    fn row(&self, program: &str) -> Result<Value, String> {
        row_of(&report(self.node, self.namespace, &self.pod)?, program)
    }

    /// The number of relists of a client.
    fn relists(&self, program: &str) -> Result<u64, String> {
        Ok(relists(&self.row(program)?))
    }

    /// Whether the metrics have a request of this client in this pod.
    fn has_metrics(&self, program: &str, namespace: &str, pod: &str) -> Result<(), String> {
        let object = self
            .node
            .get(&format!("/api/v1/namespaces/{}/pods/{}", self.namespace, self.pod))
            .map_err(|error| error.to_string())?;
        let address: IpAddr = object["status"]["podIP"].as_str().unwrap().parse().unwrap();
        let metrics = self.node.in_network(|| Scraper::at((address, 9643).into()).scrape()).map_err(|error| error.to_string())?;
        let labels =
            [format!(r#"client="{program}""#), format!(r#"client_namespace="{namespace}""#), format!(r#"client_pod="{pod}""#)];
        let text = metrics.text();
        let mut samples = text.lines().filter(|line| line.starts_with("watchtap_requests_total{"));
        let is_there = samples.any(|line| labels.iter().all(|label| line.contains(label)));
        if is_there { Ok(()) } else { Err(format!("no {labels:?} in {text}")) }
    }

    /// The attached page has a row with this pod.
    fn shows(&self, namespace: &str, pod: &str) {
        let mut attach = self.node.command(&built("watchtap").unwrap()).unwrap();
        attach.args(["attach", &format!("pod/{}", self.pod), "--namespace", self.namespace]).env("TERM", "xterm-256color");
        page::shows(&attach, &format!("client:{pod}"), &format!("{namespace}/{pod}"));
    }
}

/// The number of relists of the client in a pod, as its sidecar counts them.
fn sidecar_relists(stage: &Stage<'_>, pod: &str) -> Result<u64, String> {
    Ok(relists(&row_of(&report(stage.node, stage.namespace.name(), pod)?, pod)?))
}

/// The reflector of the client whose user agent is this program with any version.
fn row_of(report: &Value, program: &str) -> Result<Value, String> {
    let is_it = |row: &&Value| row["client"]["program"].as_str().is_some_and(|found| found.split('/').next() == Some(program));
    let rows = report["reflectors"].as_array().unwrap();
    rows.iter().find(is_it).cloned().ok_or_else(|| format!("no {program} in {report}"))
}

/// The number of relists. Their causes may differ: a probe does not see refused connections, and a sidecar does not see its own end.
fn relists(row: &Value) -> u64 {
    row["causes"].as_object().into_iter().flatten().filter_map(|(_, number)| number.as_u64()).sum()
}

/// Of all objects, the user has only got the EndpointSlice of the API server.
#[track_caller]
fn requests_no_list_and_no_watch(node: &Node, user: &str) {
    let audit = node.audit_log().unwrap();
    let of_probe: Vec<&Value> = audit.iter().filter(|event| event["user"]["username"] == user).collect();
    assert!(!of_probe.is_empty(), "the audit log has no request of {user}");
    let of_objects: Vec<_> = of_probe.iter().filter(|event| event["objectRef"].is_object()).collect();
    assert!(!of_objects.is_empty(), "{of_probe:#?}");
    for event in of_objects {
        let object = &event["objectRef"];
        let found = [&event["verb"], &object["resource"], &object["namespace"], &object["name"]];
        assert_eq!(found, ["get", "endpointslices", "default", "kubernetes"].map(Value::from).each_ref(), "{event:#}");
    }
    // The version of the API server and its metrics are no objects.
    assert!(of_probe.iter().all(|event| event["verb"] == "get"), "{of_probe:#?}");
}
