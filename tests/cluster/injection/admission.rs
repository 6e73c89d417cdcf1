//! A real API server admits what `inject` makes: the pods under Pod Security *restricted*, with tokens of service accounts,
//! and the objects that make them.

use std::collections::BTreeSet;
use std::fs;

use observer_tests::{Client, Cluster, Options, objects_as_kubectl_reads_them};
use serde_json::{Value, json};

use super::corpus::{Source, sources};
use super::invocation::{Run, inject, uninject};
use super::oracle::{MOVED, SERVICE_ACCOUNT, SIDECAR, all_containers, array, compare, mount_at};
use super::restricted::{add_claims, comply};
use super::workload::{collection, named, places};

pub(super) const NAMESPACE: &str = "restricted";

/// An object that makes pods, with a pod that complies, before and after the injection.
pub(super) struct Workload {
    pub(super) name: String,
    pub(super) before: Value,
    pub(super) after: Value,
}

#[test]
fn api_server_admits_injected_pods_wherever_it_admits_the_originals() {
    let workloads = workloads();
    let cluster = Cluster::start(&Options { service_account_admission: true, ..Options::default() }).unwrap();
    let client = cluster.client();
    prepare(&client, &workloads);
    let (mut complaints, mut admitted, mut kinds, mut pairs) = (Vec::new(), 0, BTreeSet::new(), Vec::new());
    for workload in &workloads {
        match workload.admission(&client) {
            // Objects with every field have values that no server takes.
            Admission::OriginalRefused(_) if workload.name.starts_with("testdata/HEAD/") => {}
            Admission::OriginalRefused(reason) => complaints.push(format!("{}: the original is refused: {reason}", workload.name)),
            Admission::Admitted { wrong, stored } => {
                admitted += 1;
                pairs.extend(stored);
                kinds.insert(workload.after["kind"].as_str().unwrap().to_owned());
                complaints.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", workload.name)));
            }
        }
    }
    complaints.extend(from_the_server(&pairs));
    println!("{admitted} of {} originals are admitted", workloads.len());
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
    let all =
        ["CronJob", "DaemonSet", "Deployment", "Job", "Pod", "PodTemplate", "ReplicaSet", "ReplicationController", "StatefulSet"];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

/// All objects of the corpus that are injected, each in the form that complies.
pub(super) fn workloads() -> Vec<Workload> {
    let folder = tempfile::tempdir().unwrap();
    let sources = sources();
    let files: Vec<_> = (0..sources.len()).map(|number| folder.path().join(number.to_string())).collect();
    for (file, source) in files.iter().zip(&sources) {
        fs::write(file, &source.text).unwrap();
    }
    let read = objects_as_kubectl_reads_them(&files).unwrap();
    let objects: Vec<(String, Value)> =
        sources.iter().zip(read).flat_map(|(source, objects)| complying(source, &objects.unwrap())).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects.iter().map(|(_, object)| object).collect::<Vec<_>>()});
    let file = folder.path().join("all.json");
    fs::write(&file, format!("{list:#}")).unwrap();
    let run = inject(&file);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let injected: Value = serde_json::from_str(&run.stdout).unwrap();
    let items = array(&injected["items"]);
    assert_eq!(items.len(), objects.len());
    let pairs = objects.into_iter().zip(items);
    pairs.map(|((name, before), after)| Workload { name, before, after: after.clone() }).collect()
}

/// The injected objects of a manifest without what only a server sets, in the namespace of the test.
fn complying(source: &Source, objects: &[Value]) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for object in objects {
        for place in places(object) {
            let mut workload = object.pointer(&place.object).unwrap().clone();
            let name = named(&workload);
            if source.manifest.injected == 0 || source.manifest.refused.iter().any(|(refused, _)| *refused == name) {
                continue;
            }
            let metadata = &workload["metadata"];
            let kept = ["labels", "annotations"].map(|key| (key.to_owned(), metadata[key].clone()));
            let base = metadata["name"].as_str().unwrap_or("pod").to_lowercase().replace('_', "-");
            workload["metadata"] = kept.into_iter().collect::<serde_json::Map<_, _>>().into();
            workload["metadata"]["name"] = base.into();
            workload["metadata"]["namespace"] = NAMESPACE.into();
            workload.as_object_mut().unwrap().remove("status");
            let pod = &place.pod[place.object.len()..];
            comply(workload.pointer_mut(pod).unwrap());
            found.push((format!("{} {name}", source.manifest.path), workload));
        }
    }
    found
}

/// The namespace that enforces *restricted*, and the service accounts of the pods.
pub(super) fn prepare(client: &Client, workloads: &[Workload]) {
    let labels =
        json!({"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "latest"});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}});
    client.post("/api/v1/namespaces", &namespace).unwrap().success().unwrap();
    let account = |workload: &Workload| {
        Workload::pod(&workload.before)["spec"]["serviceAccountName"].as_str().unwrap_or("default").to_owned()
    };
    for name in workloads.iter().map(account).collect::<BTreeSet<_>>() {
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
        client.post(&format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts"), &account).unwrap().success().unwrap();
    }
}

enum Admission {
    OriginalRefused(String),
    Admitted {
        /// Mistakes all the same.
        wrong: Vec<String>,
        /// The original and the injected object as the server stores them.
        stored: Option<[Value; 2]>,
    },
}

impl Workload {
    fn admission(&self, client: &Client) -> Admission {
        let create = |object: &Value| {
            let path = format!("{}?dryRun=All&fieldValidation=Strict", collection(object, NAMESPACE));
            let response = client.post(&path, object).unwrap();
            let answer = response.json().unwrap();
            if response.status == 201 { Ok(answer) } else { Err(answer["message"].as_str().unwrap_or_default().to_owned()) }
        };
        let original = match (create(&self.before), create(&Self::pod(&self.before))) {
            (Ok(original), Ok(_)) => original,
            (Err(refused), _) | (_, Err(refused)) => return Admission::OriginalRefused(refused),
        };
        let mut wrong = Vec::new();
        let injected = create(&self.after).map_err(|refused| wrong.push(format!("the object is refused: {refused}")));
        let sent = Self::pod(&self.after);
        match create(&sent) {
            Ok(admitted) => wrong.extend(mistakes(&sent, &admitted)),
            Err(refused) => wrong.push(format!("the pod is refused: {refused}")),
        }
        Admission::Admitted { wrong, stored: injected.ok().map(|injected| [original, injected]) }
    }

    /// The pod that a controller makes of the object.
    pub(super) fn pod(object: &Value) -> Value {
        let place = places(object).remove(0);
        let template = object.pointer(&place.pod).unwrap();
        let kept = ["labels", "annotations"].map(|key| (key.to_owned(), template["metadata"][key].clone()));
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": kept.into_iter().collect::<serde_json::Map<_, _>>()});
        pod["metadata"]["name"] = "pod".into();
        pod["spec"] = template["spec"].clone();
        add_claims(&mut pod, object);
        pod
    }
}

/// Objects as the server returns them have its defaults, also in what was injected: `kubectl get -o json | watchtap uninject` must
/// give the original back, and another injection must find nothing to do.
fn from_the_server(stored: &[[Value; 2]]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    // Pods get more from the server than defaults: a token for the original.
    let stored: Vec<_> = stored.iter().filter(|[original, _]| original["kind"] != "Pod").collect();
    let list = |items: Vec<&Value>| json!({"apiVersion": "v1", "kind": "List", "items": items});
    let injected = list(stored.iter().map(|pair| &pair[1]).collect());
    let file = folder.path().join("stored.json");
    fs::write(&file, format!("{injected:#}")).unwrap();
    let objects = |run: &Run| -> Vec<Value> { array(&serde_json::from_str::<Value>(&run.stdout).unwrap()["items"]).to_vec() };
    let (back, again) = (uninject(&file), inject(&file));
    let mut found = Vec::new();
    if again.stderr.contains(": updated: ") {
        found.push(format!("objects from the server are not up to date: {}", again.stderr));
    }
    for run in [&back, &again] {
        if run.code != Some(0) {
            found.push(format!("objects from the server: exit code {:?}: {}", run.code, run.stderr));
        }
    }
    let without_server_fields = |object: &Value| {
        let mut object = object.clone();
        for field in ["uid", "creationTimestamp", "resourceVersion", "managedFields", "generation"] {
            object["metadata"].as_object_mut().unwrap().remove(field);
        }
        object
    };
    for (pair, (back, again)) in stored.iter().zip(objects(&back).iter().zip(&objects(&again))) {
        let mut different = Vec::new();
        compare("", &without_server_fields(&pair[0]), &without_server_fields(back), &mut different);
        // The server puts a Job's UID into its labels, and makes a new one for each dry run.
        different.retain(|different| !different.contains("controller-uid"));
        // What is up to date keeps the server's defaults.
        compare("", &pair[1], again, &mut different);
        found.extend(different.into_iter().map(|different| format!("{} from the server: {different}", named(&pair[0]))));
    }
    found
}

/// Deviations from the expected pod: the sidecar without a token, each other container with one folder at the place of clients, and no
/// volume of its own.
fn mistakes(sent: &Value, admitted: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let volumes = array(&admitted["spec"]["volumes"]);
    if volumes.len() != array(&sent["spec"]["volumes"]).len() {
        found.push("admission added a volume".to_owned());
    }
    let has_token = |mount: &Value| {
        let volume = volumes.iter().find(|volume| volume["name"] == mount["name"]);
        volume.is_some_and(|volume| {
            array(&volume["projected"]["sources"]).iter().any(|source| source["serviceAccountToken"].is_object())
        })
    };
    for container in all_containers(admitted) {
        let mounts = array(&container["volumeMounts"]);
        let at_place: Vec<_> = mounts.iter().filter(|mount| mount["mountPath"] == SERVICE_ACCOUNT).collect();
        let sidecar = container["name"] == SIDECAR;
        let expected = if sidecar { "watchtap-real-ca" } else { "watchtap-trust" };
        if at_place.iter().map(|mount| &mount["name"]).collect::<Vec<_>>() != [expected] {
            found.push(format!("{} has {at_place:?}", container["name"]));
        }
        if sidecar && mounts.iter().any(has_token) {
            found.push("the sidecar has a token".to_owned());
        }
        if !sidecar && !mount_at(&container, MOVED).is_some_and(has_token) {
            found.push(format!("{} has no token", container["name"]));
        }
    }
    found
}
