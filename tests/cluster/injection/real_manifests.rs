//! Manifests of real projects: what becomes of each, in which lines, and back.

use serde_json::Value;

use super::corpus::{Source, sources};
use super::invocation::REFUSED;
use super::line_difference::{LineDifference, block};
use super::oracle::all_containers;
use super::round_trip::{RoundTrip, round_trips};
use super::workload::{Place, named, places};

/// The most lines that differ for a pod of up to three containers, and for each container more.
const MOST_LINES: usize = 60;
const MOST_LINES_FOR_A_CONTAINER: usize = 8;
/// Indented JSON closes each list in a line of its own.
const MOST_LINES_FOR_A_CONTAINER_IN_JSON: usize = 10;

#[test]
fn real_manifests_are_injected_as_described_and_given_back() {
    let sources = sources();
    let texts = sources.iter().map(|source| (source.manifest.file_name(), source.text.clone())).collect();
    let trips = round_trips(texts);
    let mut complaints = Vec::new();
    for (source, trip) in sources.iter().zip(&trips) {
        let of_manifest = trip.complaints().into_iter().chain(outcome(source, trip)).chain(text(trip));
        complaints.extend(of_manifest.map(|complaint| format!("{}: {complaint}", source.manifest.path)));
    }
    let pods: usize = sources.iter().map(|source| source.manifest.injected).sum();
    println!("{} manifests with {pods} injected pods; a document changes in at most {} lines", trips.len(), most_lines(&trips));
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Deviations from what the corpus expects of a manifest.
fn outcome(source: &Source, trip: &RoundTrip) -> Vec<String> {
    let (manifest, report) = (&source.manifest, &trip.run.stderr);
    let mut found = Vec::new();
    // A refused object is a failure: whoever pipes the manifest on must notice.
    if trip.run.code != Some(if manifest.refused.is_empty() { 0 } else { REFUSED }) {
        found.push(format!("exit code {:?}: {report}", trip.run.code));
    }
    let pods = trip.pods();
    let injected = pods.iter().filter(|pod| pod.before != pod.after).count();
    if injected != manifest.injected {
        found.push(format!("{injected} pods are injected, not {}: {report}", manifest.injected));
    }
    for pod in pods {
        let (_, name) = pod.name.split_once('/').unwrap();
        let lines = trip.run.report_of(name);
        let reason = manifest.refused.iter().find(|(object, _)| *object == pod.name).map_or("", |(_, reason)| reason);
        if !lines.iter().any(|line| line.to_lowercase().contains(&reason.to_lowercase())) {
            found.push(format!("no line on {} with {reason:?}: {report}", pod.name));
        }
    }
    found
}

/// Changes of the text: only in documents with an injected pod, only in the pod, and few.
fn text(trip: &RoundTrip) -> Vec<String> {
    let (Ok(before), Ok(after)) = (&trip.before, &trip.after) else { return vec!["kubectl cannot read it".to_owned()] };
    let changed: Vec<&Value> =
        before.iter().zip(after).filter(|(before, after)| before != after).map(|(before, _)| before).collect();
    let texts = changed_documents(trip);
    if texts.len() != changed.len() {
        return vec![format!("{} documents changed, but {} objects", texts.len(), changed.len())];
    }
    let mut found = Vec::new();
    for (object, (before, after)) in changed.into_iter().zip(texts) {
        let (places, difference) = (places(object), LineDifference::between(before, after));
        let pods = places.iter().map(|place| object.pointer(&place.pod).unwrap());
        let is_json = before.trim_start().starts_with('{');
        let for_one = if is_json { MOST_LINES_FOR_A_CONTAINER_IN_JSON } else { MOST_LINES_FOR_A_CONTAINER };
        let most = pods.map(|pod| MOST_LINES + for_one * all_containers(pod).len().saturating_sub(3)).sum();
        if difference.lines() > most {
            found.push(format!("{} lines of {} changed, more than {most}", difference.lines(), named(object)));
        }
        let [Place { pod, .. }] = places.as_slice() else { continue };
        let keys: Vec<&str> = pod.split('/').filter(|key| !key.is_empty()).collect();
        if let Some(lines) = block(before, &keys).filter(|lines| !keys.is_empty() && !difference.is_within(lines)) {
            found.push(format!("{} changed outside of the lines {lines:?} of its pod: {difference:?}", named(object)));
        }
    }
    found
}

/// Documents whose text changed.
fn changed_documents(trip: &RoundTrip) -> Vec<(&str, &str)> {
    let (before, after) = (documents(&trip.text), documents(&trip.run.stdout));
    if before.len() != after.len() {
        return vec![("", "other numbers of documents")];
    }
    before.into_iter().zip(after).filter(|(before, after)| before != after).collect()
}

fn most_lines(trips: &[RoundTrip]) -> usize {
    let documents = trips.iter().flat_map(changed_documents);
    documents.map(|(before, after)| LineDifference::between(before, after).lines()).max().unwrap_or(0)
}

/// The documents of a file, each with the line that ends it.
fn documents(text: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let (mut first, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.starts_with("---") {
            documents.push(&text[first..at]);
            first = at;
        }
    }
    documents.push(&text[first..]);
    documents
}
