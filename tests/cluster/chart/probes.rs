//! The rights of both probes, as SECURITY.md and deploy/README.md state them.

use observer_tests::{Cluster, Helm, HelmRelease, Options};
use serde_json::{Value, json};

use super::admission::{pod, prepared};
use super::objects::{NAMESPACE, named, rendered};
use super::value_sets::{VALUE_SETS, ValueFiles, ValueSet};

/// The names of both. The second one is for control-plane nodes.
const NAMES: [&str; 2] = ["watchtap-probe", "watchtap-control-plane-probe"];

#[test]
fn probes_have_five_capabilities_and_no_privilege() {
    for probe in NAMES {
        let objects = objects();
        let template = &find(&objects, "DaemonSet", probe)["spec"]["template"]["spec"];
        let [container] = template["containers"].as_array().unwrap().as_slice() else { panic!("{template:#}") };
        let security = json!({
            "runAsNonRoot": false, "runAsUser": 0, "runAsGroup": 0, "privileged": false, "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"], "add": ["BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE"]},
            "seccompProfile": {"type": "RuntimeDefault"}, "appArmorProfile": {"type": "Unconfined"}, "seLinuxOptions": {"type": "spc_t"},
        });
        assert_eq!(container["securityContext"], security, "{probe}");
        let of_the_node: Vec<&str> = ["hostPID", "hostNetwork", "hostIPC", "hostUsers", "initContainers", "securityContext"]
            .into_iter()
            .filter(|field| !template[field].is_null())
            .collect();
        assert_eq!(of_the_node, ["hostPID"], "{probe}");
        let volumes = template["volumes"].as_array().unwrap().iter();
        let folders: Vec<&str> = volumes.filter_map(|volume| volume["hostPath"]["path"].as_str()).collect();
        assert_eq!(folders, ["/sys/fs/cgroup", "/var/log/pods"], "{probe}");
        let mounts = container["volumeMounts"].as_array().unwrap().iter();
        let writable: Vec<&Value> = mounts.filter(|mount| mount["readOnly"] != true).map(|mount| &mount["mountPath"]).collect();
        assert_eq!(writable, ["/var/run/secrets/watchtap/own"], "{probe}");
    }
}

#[test]
fn probes_may_read_one_object_of_the_cluster() {
    let objects = objects();
    for probe in NAMES {
        let role = find(&objects, "Role", probe);
        let rules = json!([{"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "resourceNames": ["kubernetes"], "verbs": ["get"]}]);
        assert_eq!((&role["rules"], &role["metadata"]["namespace"]), (&rules, &"default".into()));
        let binding = find(&objects, "RoleBinding", probe);
        assert_eq!(binding["roleRef"]["name"], probe);
        assert_eq!(binding["subjects"], json!([{"kind": "ServiceAccount", "name": probe, "namespace": NAMESPACE}]));
        let daemonset = find(&objects, "DaemonSet", probe);
        assert_eq!(daemonset["spec"]["template"]["spec"]["serviceAccountName"], probe);
    }
    let bound = objects.iter().filter(|object| object["kind"].as_str().unwrap().ends_with("Binding"));
    assert_eq!(bound.map(named).collect::<Vec<_>>(), ["RoleBinding/watchtap-control-plane-probe", "RoleBinding/watchtap-probe"]);
}

/// Names of API servers are looked up; addresses of the cluster itself are not.
#[test]
fn network_policies_permit_look_ups_only_for_named_api_servers() {
    let helm = Helm::of(HelmRelease::V4).unwrap();
    let addresses = ValueSet {
        name: "addresses",
        values: "
image: {repository: watchtap.example/watchtap}
networkPolicy: {enabled: true}
probe: &probe {enabled: true, apiServers: ['10.0.0.1:6443', '[fd00::a]:6443']}
controlPlaneProbe: *probe
",
    };
    let known = |name: &str| VALUE_SETS.iter().find(|known| known.name == name).unwrap();
    for (set, permits) in [(known("probes"), false), (&addresses, false), (known("other probes"), true)] {
        let objects = rendered(&helm, set, &ValueFiles::create());
        for probe in NAMES {
            let rules = find(&objects, "NetworkPolicy", probe)["spec"]["egress"].to_string();
            assert_eq!(rules.contains(r#""port":53"#), permits, "{probe}: {rules}");
        }
    }
}

/// The API server names the rules of Pod Security that the pods break.
#[test]
fn pod_security_forbids_what_the_guide_names() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let client = prepared(&cluster);
    for probe in NAMES {
        let refused = pod(&client, find(&objects(), "DaemonSet", probe), "baseline").unwrap();
        let status: Value = serde_json::from_str(&refused[refused.find('{').unwrap()..]).unwrap();
        let (_, why) = status["message"].as_str().unwrap().split_once("\"baseline:latest\": ").unwrap();
        let mut reasons: Vec<&str> = why.split("), ").map(|reason| reason.split(" (").next().unwrap()).collect();
        reasons.sort_unstable();
        assert_eq!(
            reasons,
            ["forbidden AppArmor profile", "host namespaces", "hostPath volumes", "non-default capabilities", "seLinuxOptions"],
            "{refused}"
        );
    }
}

/// Only those on control-plane nodes read the API server's own end, and their numbers are not added to those of the others.
#[test]
fn probes_of_the_control_plane_have_a_job_of_their_own() {
    let objects = objects();
    let arguments = |probe: &str| find(&objects, "DaemonSet", probe)["spec"]["template"]["spec"]["containers"][0]["args"].clone();
    let of_both = ["probe", "--in-cluster", "--metrics=[::]:9643", "--node-name=$(NODE_NAME)"];
    assert_eq!(arguments(NAMES[0]), json!(of_both));
    assert_eq!(arguments(NAMES[1]), json!([&of_both[..], &["--server-ends=alone"]].concat()));
    let affinity = |probe: &str| find(&objects, "DaemonSet", probe)["spec"]["template"]["spec"]["affinity"].to_string();
    assert_eq!(affinity(NAMES[0]), "null");
    assert!(affinity(NAMES[1]).contains(r#"{"key":"node-role.kubernetes.io/control-plane","operator":"Exists"}"#));

    let jobs = NAMES.map(|probe| {
        let monitor = &find(&objects, "PodMonitor", probe)["spec"];
        let selected = &find(&objects, "DaemonSet", probe)["spec"]["selector"];
        assert_eq!(monitor["selector"], *selected);
        monitor["podMetricsEndpoints"][0]["relabelings"][0].clone()
    });
    assert_eq!(jobs, NAMES.map(|probe| json!({"targetLabel": "job", "replacement": probe})));
}

fn objects() -> Vec<Value> {
    let set = VALUE_SETS.iter().find(|set| set.name == "probes").unwrap();
    rendered(&Helm::of(HelmRelease::V4).unwrap(), set, &ValueFiles::create())
}

fn find<'o>(objects: &'o [Value], kind: &str, name: &str) -> &'o Value {
    let name = format!("{kind}/{name}");
    objects.iter().find(|object| named(object) == name).unwrap_or_else(|| panic!("no {name}"))
}
