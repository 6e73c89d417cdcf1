//! Clients in pods, followed by their logs.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use observer_tests::node::Followed;
use observer_tests::pod_client::{Calls, PodClient};
use serde_json::Value;

use super::stage::Stage;

/// A log is available again within this time after a restart.
const READ_WITHIN: Duration = Duration::from_mins(1);
/// A client prints its store within this time after an event.
const STORE_WITHIN: Duration = Duration::from_secs(5);
/// A client has all objects within this time after a restart: some back off for up to 30 s.
const STORES_WITHIN: Duration = Duration::from_mins(2);
/// The pause between two attempts to read a log.
const PAUSE: Duration = Duration::from_millis(200);

/// A client in a pod, and what it has printed.
pub(crate) struct Follower<'s> {
    stage: &'s Stage<'s>,
    pod: String,
    container: &'static str,
    /// The client's user agent.
    name: String,
    log: Followed,
    lines: Vec<Value>,
}

/// Waits until each client has all objects as they are in etcd. During a relist, a client may print a store that
/// is not filled yet, so there is a further change for each attempt.
#[track_caller]
pub(crate) fn wait_for_stores(stage: &Stage<'_>, followers: &mut [Follower<'_>]) {
    let began = Instant::now();
    loop {
        let marker = stage.change(PodClient::PRINT_STORE);
        let expected = stage.objects();
        let differing: Vec<_> = followers
            .iter_mut()
            .filter_map(|follower| (follower.store_at(&marker) != expected).then(|| follower.name.clone()))
            .collect();
        if differing.is_empty() {
            return;
        }
        assert!(began.elapsed() < STORES_WITHIN, "the stores of {differing:?} differ from etcd after {STORES_WITHIN:?}");
    }
}

/// The calls of each follower so far that were successful: an API server that starts rejects some.
pub(crate) fn calls(stage: &Stage<'_>, followers: &[Follower<'_>]) -> Vec<Calls> {
    let mut audit = stage.node.audit_log().unwrap();
    let successful = audit.iter().filter(|event| event["responseStatus"]["code"] == 200);
    let successful: BTreeSet<String> = successful.map(|event| event["auditID"].to_string()).collect();
    audit.retain(|event| successful.contains(&event["auditID"].to_string()));
    followers.iter().map(|follower| Calls::of(&audit, &follower.name)).collect()
}

impl<'s> Follower<'s> {
    /// Follows a container, as soon as its pod is ready. `name` is the user agent of its client.
    pub(crate) fn start(stage: &'s Stage<'_>, pod: &str, container: &'static str, name: &str) -> Self {
        stage.namespace.wait(&format!("pod/{pod}"), "condition=Ready").unwrap();
        let log = stage.namespace.follow_logs(pod, container).unwrap();
        Self { stage, pod: pod.to_owned(), container, name: name.to_owned(), log, lines: Vec::new() }
    }

    pub(crate) fn pod(&self) -> &str {
        &self.pod
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Reads lines until one is such an event.
    #[track_caller]
    pub(crate) fn until(&mut self, event: &str) {
        while !self.lines.iter().any(|line| line["event"] == event) {
            self.read();
        }
    }

    /// Takes the next line. The stream of a log ends with the kubelet, the API server and the container that it comes from; then the
    /// log is read again, from its beginning.
    #[track_caller]
    pub(crate) fn read(&mut self) {
        let began = Instant::now();
        loop {
            match self.log.next_line() {
                // The log has stderr, too.
                Ok(line) => return self.lines.extend(serde_json::from_str(&line)),
                Err(error) => assert!(began.elapsed() < READ_WITHIN, "{}: {error:#}; {:?}", self.name, self.lines),
            }
            thread::sleep(PAUSE);
            self.log = self.stage.namespace.follow_logs(&self.pod, self.container).unwrap();
            self.lines.clear();
        }
    }

    /// Its store once it has the marker with this resource version; empty if it does not print that in time.
    fn store_at(&mut self, marker: &str) -> BTreeMap<String, String> {
        let is_it = |line: &&Value| line["event"] == "store" && line["objects"][PodClient::PRINT_STORE] == marker;
        let began = Instant::now();
        while !self.lines.iter().any(|line| is_it(&line)) && began.elapsed() < STORE_WITHIN {
            self.read();
        }
        let store = self.lines.iter().rfind(is_it).and_then(|line| line["objects"].as_object());
        let objects = store.into_iter().flatten();
        objects.map(|(name, version)| (name.clone(), version.as_str().unwrap_or_default().to_owned())).collect()
    }
}
