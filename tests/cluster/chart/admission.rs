//! A real API server admits all objects of the chart, with each set of values, from both Helms.

use std::collections::BTreeSet;
use std::fs;

use observer_tests::{Client, Cluster, Helm, HelmRelease, Options, chart};
use serde_json::{Value, json};

use super::custom_resources;
use super::objects::{NAMESPACE, collection, named, parsed, rendered};
use super::value_sets::{VALUE_SETS, ValueFiles};

/// The API server's complaint about an object that it does not store.
pub(super) fn complaint(client: &Client, object: &Value) -> Option<String> {
    let path = format!("{}?dryRun=All&fieldValidation=Strict", collection(object));
    let answer = client.post(&path, object).unwrap();
    (answer.status != 201).then(|| format!("{}: {} {}", named(object), answer.status, answer.text()))
}

/// A client of a cluster with the namespace of the release, one for each level of Pod Security, and with the definitions of other projects.
pub(super) fn prepared(cluster: &Cluster) -> Client {
    let client = cluster.client();
    for (name, level) in
        [(NAMESPACE, "restricted"), ("restricted", "restricted"), ("baseline", "baseline"), ("privileged", "privileged")]
    {
        let labels = json!({"pod-security.kubernetes.io/enforce": level});
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}});
        client.post("/api/v1/namespaces", &namespace).unwrap().success().unwrap();
    }
    custom_resources::create(&client);
    client
}

#[test]
fn api_server_admits_all_objects_of_each_set_of_values() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let client = prepared(&cluster);
    let files = ValueFiles::create();
    let helms = HelmRelease::ALL.map(|release| Helm::of(release).unwrap());
    let (mut complaints, mut kinds) = (Vec::new(), BTreeSet::new());
    for set in VALUE_SETS {
        let [objects, of_helm_4] = [&helms[0], &helms[1]].map(|helm| rendered(helm, set, &files));
        assert_eq!(objects, of_helm_4, "Helm 3 and Helm 4 differ with {}", set.name);
        complaints.extend(objects.iter().filter_map(|object| Some(format!("{}: {}", set.name, complaint(&client, object)?))));
        kinds.extend(objects.iter().map(|object| object["kind"].as_str().unwrap().to_owned()));
        // What Pod Security forbids is only a warning for a Deployment or a DaemonSet.
        for (kind, level) in [("Deployment", "restricted"), ("DaemonSet", "privileged")] {
            let of_kind = objects.iter().filter(|object| object["kind"] == kind);
            complaints.extend(of_kind.filter_map(|object| pod(&client, object, level)));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let all = [
        "Certificate",
        "ClusterRole",
        "ClusterRoleBinding",
        "ConfigMap",
        "DaemonSet",
        "Deployment",
        "Issuer",
        "MutatingWebhookConfiguration",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "PodMonitor",
        "PrometheusRule",
        "Role",
        "RoleBinding",
        "Service",
        "ServiceAccount",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

/// The complaint about a pod of a `Deployment` or `DaemonSet`, in a namespace that enforces a level of Pod Security.
pub(super) fn pod(client: &Client, workload: &Value, level: &str) -> Option<String> {
    let mut pod = workload["spec"]["template"].clone();
    pod["apiVersion"] = "v1".into();
    pod["kind"] = "Pod".into();
    pod["metadata"]["name"] = "app".into();
    pod["metadata"]["namespace"] = level.into();
    // Only the cluster's own namespaces have these classes without controllers.
    pod["spec"].as_object_mut().unwrap().remove("priorityClassName");
    complaint(client, &pod)
}

#[test]
fn unknown_fields_and_unsafe_pods_are_found() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let client = prepared(&cluster);
    let objects = rendered(&Helm::of(HelmRelease::V4).unwrap(), &VALUE_SETS[0], &ValueFiles::create());
    let mut deployment = objects.into_iter().find(|object| object["kind"] == "Deployment").unwrap();
    assert_eq!(pod(&client, &deployment, "restricted"), None);
    deployment["spec"]["template"]["spec"]["containers"][0]["securityContext"]["capabilities"] = json!({});
    let unsafe_pod = pod(&client, &deployment, "restricted").unwrap();
    assert!(unsafe_pod.contains("violates PodSecurity"), "{unsafe_pod}");
    deployment["spec"]["replica"] = 1.into();
    let unknown = complaint(&client, &deployment).unwrap();
    assert!(unknown.contains("unknown field \\\"spec.replica\\\""), "{unknown}");
    let monitor =
        "{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: a, namespace: watchtap}, spec: {jobs: 1}}";
    let unknown = complaint(&client, &parsed(monitor)[0]).unwrap();
    assert!(unknown.contains("unknown field \\\"spec.jobs\\\""), "{unknown}");
}

/// Kubernetes allows such names, and YAML would make numbers and booleans of them. Names of Services do not begin with a digit.
#[test]
fn release_and_namespace_may_have_names_like_numbers_and_booleans() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let client = cluster.client();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "2"}});
    client.post("/api/v1/namespaces", &namespace).unwrap().success().unwrap();
    let (chart, helm) = (chart().display().to_string(), Helm::of(HelmRelease::V4).unwrap());
    let values = ["--set=image.repository=watchtap", "--set=networkPolicy.enabled=true", "--set-string=nameOverride=1e3"];
    let arguments: Vec<&str> = ["template", "true", &chart, "--namespace", "2"].into_iter().chain(values).collect();
    let objects = parsed(&helm.run(&arguments).unwrap());
    let complaints: Vec<String> = objects.iter().filter_map(|object| complaint(&client, object)).collect();
    assert!(objects.len() > 8 && complaints.is_empty(), "{}", complaints.join("\n"));
}

/// A label twice would be no valid YAML.
#[test]
fn label_of_one_kind_goes_before_that_of_all_objects() {
    let set = VALUE_SETS.iter().find(|set| set.name == "names and labels").unwrap();
    let objects = rendered(&Helm::of(HelmRelease::V4).unwrap(), set, &ValueFiles::create());
    let labels = |kind: &str| &objects.iter().find(|object| object["kind"] == kind).unwrap()["metadata"]["labels"];
    let deployment = objects.iter().find(|object| object["kind"] == "Deployment").unwrap();
    assert_eq!((&labels("Service")["team"], &labels("Service")["release"]), (&json!("platform"), &json!("all")));
    assert_eq!(deployment["spec"]["template"]["metadata"]["labels"]["team"], "admission");
    assert_eq!((&labels("PodMonitor")["team"], &labels("PodMonitor")["release"]), (&json!("platform"), &json!("prometheus")));
}

/// The rights of the webhook, as SECURITY.md and deploy/README.md state them.
#[test]
fn webhook_has_rights_for_two_objects_only() {
    let objects = rendered(&Helm::of(HelmRelease::V4).unwrap(), &VALUE_SETS[0], &ValueFiles::create());
    let rules =
        |kind: &str| objects.iter().filter(|object| object["kind"] == kind).map(|role| role["rules"].clone()).collect::<Vec<_>>();
    let secret = json!([{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["watchtap-webhook-certificate"],
                         "verbs": ["get", "create", "patch"]}]);
    let configuration = json!([{"apiGroups": ["admissionregistration.k8s.io"], "resources": ["mutatingwebhookconfigurations"],
                                "resourceNames": ["watchtap-webhook"], "verbs": ["get", "patch"]}]);
    assert_eq!((rules("Role"), rules("ClusterRole")), (vec![secret], vec![configuration]));
    let files = ValueFiles::create();
    let with_cert_manager = VALUE_SETS.iter().find(|set| set.name == "cert-manager").unwrap();
    let objects = rendered(&Helm::of(HelmRelease::V4).unwrap(), with_cert_manager, &files);
    assert!(!objects.iter().any(|object| object["kind"].as_str().unwrap().contains("Role")), "{objects:#?}");
}

/// Hooks, definitions of resources, `lookup` and random functions would make a release differ from what `helm template` prints.
#[test]
fn templates_use_nothing_that_depends_on_the_cluster_or_on_chance() {
    let templates = fs::read_dir(chart().join("templates")).unwrap();
    let mut read = 0;
    for file in templates {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let words: BTreeSet<&str> = text.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
        for forbidden in
            ["lookup", "genCA", "genSignedCert", "genSelfSignedCert", "genPrivateKey", "htpasswd", "now", "Capabilities", "hook"]
        {
            assert!(!words.contains(forbidden), "{} uses `{forbidden}`", path.display());
        }
        assert!(!text.contains("rand") && !text.contains("uuidv4"), "{} is random", path.display());
        read += 1;
    }
    assert!(read > 10, "{read} templates");
    assert!(!chart().join("crds").exists());
}
