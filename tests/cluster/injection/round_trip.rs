//! A manifest that is injected once, twice, and given back; and what must hold of that for every input.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use observer_tests::objects_as_kubectl_reads_them;
use serde_json::Value;

use super::invocation::{REFUSED, Run, UNREADABLE, inject, uninject};
use super::oracle::differences;
use super::workload::{Place, named, places};

/// The machines of CI have two cores.
const THREADS: usize = 2;

/// The results of all steps for one manifest.
#[derive(Debug)]
pub(super) struct RoundTrip {
    pub(super) text: String,
    pub(super) run: Run,
    twice: Run,
    back: Run,
    /// The objects of the manifest and of the result, or why kubectl cannot read them.
    pub(super) before: Result<Vec<Value>, String>,
    pub(super) after: Result<Vec<Value>, String>,
}

/// A pod of a manifest before and after.
#[derive(Debug)]
pub(super) struct Pod<'r> {
    /// `Kind/name` of the object that makes it.
    pub(super) name: String,
    pub(super) before: &'r Value,
    pub(super) after: &'r Value,
}

/// Makes the round trips of all texts; the name of each ends in `.yaml` or `.json`.
pub(super) fn round_trips(texts: Vec<(String, String)>) -> Vec<RoundTrip> {
    let folder = tempfile::tempdir().unwrap();
    let numbered: Vec<(usize, (String, String))> = texts.into_iter().enumerate().collect();
    let parts: Vec<_> = numbered.chunks(numbered.len().div_ceil(THREADS)).collect();
    let run = |(number, (name, text)): &(usize, (String, String))| steps(&folder.path().join(number.to_string()), name, text);
    let ran: Vec<([PathBuf; 2], [Run; 3])> = thread::scope(|scope| {
        let threads: Vec<_> = parts.into_iter().map(|part| scope.spawn(move || part.iter().map(run).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let files: Vec<PathBuf> = ran.iter().flat_map(|(files, _)| files.clone()).collect();
    let mut read = objects_as_kubectl_reads_them(&files).unwrap().into_iter();
    let mut objects = || read.next().unwrap();
    let mut all = Vec::new();
    for ((_, (_, text)), (_, [run, twice, back])) in numbered.into_iter().zip(ran) {
        all.push(RoundTrip { text, run, twice, back, before: objects(), after: objects() });
    }
    all
}

fn steps(folder: &Path, name: &str, text: &str) -> ([PathBuf; 2], [Run; 3]) {
    fs::create_dir(folder).unwrap();
    let files = [folder.join(name), folder.join(format!("once-{name}"))];
    fs::write(&files[0], text).unwrap();
    let run = inject(&files[0]);
    // A run that fails may print nothing.
    fs::write(&files[1], if run.stdout.is_empty() { text } else { &run.stdout }).unwrap();
    let (twice, back) = (inject(&files[1]), uninject(&files[1]));
    (files, [run, twice, back])
}

impl RoundTrip {
    /// Whether the text changed.
    pub(super) fn is_injected(&self) -> bool {
        self.run.stdout != self.text && !self.run.stdout.is_empty()
    }

    /// Violations of that which must hold for every input.
    pub(super) fn complaints(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (step, run) in [("inject", &self.run), ("inject again", &self.twice), ("uninject", &self.back)] {
            if !matches!(run.code, Some(0 | UNREADABLE | REFUSED)) {
                found.push(format!("{step} ended with {:?}: {}", run.code, run.stderr));
            }
            if run.stderr.contains(|character: char| character.is_control() && character != '\n') {
                found.push(format!("{step} controls the terminal: {:?}", run.stderr));
            }
        }
        if !self.is_injected() {
            return found;
        }
        if self.twice.stdout != self.run.stdout {
            found.push(format!("another injection changes the result: {}", self.twice.stderr));
        }
        if self.back.stdout != self.text {
            found.push(format!("uninject does not give back the original: {}", self.back.stderr));
        }
        if self.back.code != Some(0) {
            found.push(format!("uninject ends with {:?}: {}", self.back.code, self.back.stderr));
        }
        match (&self.before, &self.after) {
            (Ok(before), Ok(after)) => found.extend(self.differences(before, after)),
            (Ok(_), Err(error)) => found.push(format!("kubectl cannot read the result: {error}")),
            // A manifest that kubectl cannot read completely may be injected up to there.
            (Err(_), _) => {}
        }
        found
    }

    /// Each object's pods before and after, as far as both can be read.
    pub(super) fn pods(&self) -> Vec<Pod<'_>> {
        let (Ok(before), Ok(after)) = (&self.before, &self.after) else { return Vec::new() };
        let mut pods = Vec::new();
        for (before, after) in before.iter().zip(after) {
            for Place { object, pod } in places(before) {
                let name = named(before.pointer(&object).unwrap());
                let pod = [before, after].map(|object| object.pointer(&pod).unwrap_or(&Value::Null));
                pods.push(Pod { name, before: pod[0], after: pod[1] });
            }
        }
        pods
    }

    /// Differences of the trees from what is described.
    fn differences(&self, before: &[Value], after: &[Value]) -> Vec<String> {
        let mut found = Vec::new();
        if before.len() != after.len() {
            found.push(format!("{} objects became {}", before.len(), after.len()));
        }
        for Pod { name, before, after } in self.pods().into_iter().filter(|pod| pod.before != pod.after) {
            found.extend(differences(before, after).into_iter().map(|difference| format!("{name}: {difference}")));
        }
        for (before, after) in before.iter().zip(after) {
            let without_pods = |object: &Value| {
                let mut rest = object.clone();
                places(before).iter().filter_map(|place| rest.pointer_mut(&place.pod).map(Value::take)).for_each(drop);
                rest
            };
            if without_pods(before) != without_pods(after) {
                found.push(format!("{} changed outside of its pods", named(before)));
            }
        }
        found
    }
}
