//! Each pod of the tables, by the policy and by `admit`.

use std::collections::BTreeMap;
use std::fs;

use observer_tests::objects_as_kubectl_reads_them;
use serde_json::{Map, Value, json};
use watchtap::injection::SampleOptions;

use super::ground::{ADMITTED, Ground, NAMESPACE, REFUSED, labelled};
use super::pods::{Expected, pods};
use crate::injection::corpus::sources;
use crate::injection::oracle::compare;
use crate::injection::restricted::{add_claims, comply};
use crate::injection::workload::{named, places};

#[test]
fn policy_makes_the_same_pods_as_admission() {
    check(SampleOptions::Image);
}

#[test]
fn policy_makes_the_same_pods_as_admission_with_all_flags() {
    check(SampleOptions::All);
}

/// Compares all pods, and requires that none of them makes the policy fail.
#[track_caller]
fn check(options: SampleOptions) {
    let ground = Ground::with_policy(options);
    let mut complaints = Vec::new();
    let mut numbers = BTreeMap::new();
    for row in pods() {
        let name = row.name;
        match difference(&ground, row.namespace, &row.pod) {
            Ok((outcome, wrong)) => {
                complaints.extend(wrong.into_iter().map(|wrong| format!("{name}: {wrong}")));
                if !row.expected.agrees(&outcome) {
                    complaints.push(format!("{name}: {outcome:?} instead of {:?}", row.expected));
                }
                *numbers.entry(outcome.name()).or_insert(0) += 1;
            }
            Err(refused) => complaints.push(format!("{name}: the server refuses it: {refused}")),
        }
    }
    for (name, account, pod) in real_pods() {
        if let Some(account) = account {
            ground.add_account_once(&account);
        }
        match difference(&ground, NAMESPACE, &pod) {
            Ok((outcome, wrong)) => {
                complaints.extend(wrong.into_iter().map(|wrong| format!("{name}: {wrong}")));
                *numbers.entry(outcome.name()).or_insert(0) += 1;
            }
            // Objects with every field have values that no server takes.
            Err(_) if name.starts_with("testdata/HEAD/") => {}
            Err(refused) => complaints.push(format!("{name}: the server refuses it: {refused}")),
        }
    }
    println!("{numbers:?}");
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
    assert_eq!(ground.errors(), "", "the policy failed: {}", ground.log());
    assert!(numbers["injected"] > 110 && numbers["refused"] > 50, "{numbers:?}");
}

/// The result for a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Injected,
    Refused(String),
    Unchanged,
}

impl Outcome {
    fn of(pod: &Value) -> Self {
        let annotation = |name: &str| pod["metadata"]["annotations"][name].as_str();
        match (annotation(ADMITTED), annotation(REFUSED)) {
            (_, Some(reason)) => Self::Refused(reason.to_owned()),
            (Some(_), None) => Self::Injected,
            (None, None) => Self::Unchanged,
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Injected => "injected",
            Self::Refused(_) => "refused",
            Self::Unchanged => "unchanged",
        }
    }
}

impl Expected {
    fn agrees(self, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (Self::Refused(part), Outcome::Refused(reason)) => reason.contains(part),
            (Self::Injected, Outcome::Injected) | (Self::Unchanged, Outcome::Unchanged) => true,
            (Self::Refused(_) | Self::Injected | Self::Unchanged, _) => false,
        }
    }
}

/// The outcome by the policy, and each value that differs from that of admission. The server's message, if it refuses the pod.
fn difference(ground: &Ground, namespace: &str, pod: &Value) -> Result<(Outcome, Vec<String>), String> {
    let expected = ground.expected(namespace, pod)?;
    let is = ground.stored(namespace, &labelled(pod))?;
    let mut found = Vec::new();
    compare("", &expected, &is, &mut found);
    // A member that is null, and one that is absent, are equal for `compare`.
    if found.is_empty() && expected != is {
        found.push(format!("{is}\ninstead of\n{expected}"));
    }
    Ok((Outcome::of(&is), found))
}

/// The pods of all manifests of the corpus, those that are refused, too: with the name, and the `ServiceAccount`.
fn real_pods() -> Vec<(String, Option<String>, Value)> {
    let folder = tempfile::tempdir().unwrap();
    let sources = sources();
    let files: Vec<_> = (0..sources.len()).map(|number| folder.path().join(number.to_string())).collect();
    for (file, source) in files.iter().zip(&sources) {
        fs::write(file, &source.text).unwrap();
    }
    let mut found = Vec::new();
    for (source, objects) in sources.iter().zip(objects_as_kubectl_reads_them(&files).unwrap()) {
        for object in objects.unwrap() {
            for place in places(&object) {
                let workload = object.pointer(&place.object).unwrap();
                let mut pod = object.pointer(&place.pod).unwrap().clone();
                // The refusals count here, too.
                let host_network = pod["spec"]["hostNetwork"].clone();
                if pod["spec"]["os"]["name"] != "windows" {
                    comply(&mut pod);
                }
                if host_network.is_boolean() {
                    pod["spec"]["hostNetwork"] = host_network;
                }
                let kept = ["labels", "annotations"].map(|key| (key.to_owned(), pod["metadata"][key].clone()));
                pod["metadata"] = kept.into_iter().collect::<Map<_, _>>().into();
                pod["metadata"]["name"] = "pod".into();
                pod.as_object_mut().unwrap().retain(|key, _| ["metadata", "spec"].contains(&key.as_str()));
                add_claims(&mut pod, workload);
                let account = pod["spec"]["serviceAccountName"].as_str().map(str::to_owned);
                found.push((format!("{} {}", source.manifest.path, named(workload)), account, json!(pod)));
            }
        }
    }
    found
}
