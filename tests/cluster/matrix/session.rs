//! One cluster and one tap in front of it: requests go through the tap, and the counters are read directly.

use std::thread;
use std::time::{Duration, Instant};

use observer_tests::{Client, Cluster, ExecSession, Finished, Options, ReadCounters, Response};
use serde_json::{Value, json};

use super::asked::{Asked, Remark};
use super::configuration::CUSTOM_RESOURCES_ONLY;
use super::ground::{Ground, OLD};
use super::measured::Seen;
use super::resource::{OBJECTS, Resource};
use super::row::{Act, Row};

/// Number of attempts per row before its counters count as unclear.
const TRIES: usize = 3;
/// A new custom resource is not served immediately.
const SERVED_WITHIN: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);

/// The context of a row.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) resource: &'a Resource,
    pub(super) configuration: &'a str,
    pub(super) remarks: &'a [Remark],
    /// Number of requests to the extension server, if the resource has one.
    pub(super) passed_on: &'a dyn Fn() -> Option<usize>,
}

impl<'a> About<'a> {
    pub(super) fn new(resource: &'a Resource, configuration: &'a str) -> Self {
        Self { resource, configuration, remarks: &[], passed_on: &|| None }
    }
}

/// A cluster with its tap, and the rows asked so far.
pub(super) struct Session {
    pub(super) cluster: Cluster,
    tap: ExecSession,
    /// The client through the tap.
    through: Client,
    /// The client that bypasses the tap.
    pub(super) direct: Client,
    asked: Vec<Asked>,
    writes: usize,
}

impl Session {
    /// Starts the cluster and the tap.
    pub(super) fn start(options: &Options, tap_flags: &[&str]) -> Self {
        let cluster = Cluster::start(options).unwrap();
        // This server has no /version.
        let version = (options.minor == CUSTOM_RESOURCES_ONLY).then(|| format!("--server-version={}", cluster.version()));
        let tap_flags: Vec<&str> = tap_flags.iter().copied().chain(version.as_deref()).collect();
        let tap = ExecSession::start(&cluster.kubeconfig_admin().unwrap(), &tap_flags).unwrap();
        let (through, direct) = (tap.client().unwrap(), cluster.client_for_bulk().unwrap());
        Self { cluster, tap, through, direct, asked: Vec::new(), writes: 0 }
    }

    /// Creates the objects of a resource, and its definition if needed.
    pub(super) fn fill(&self, resource: &Resource) {
        if resource.name().ends_with(super::resource::GROUP) {
            self.define(&[resource]);
        }
        for number in 0..OBJECTS {
            let made = || self.direct.post(&resource.in_namespace(), &resource.object(number)).unwrap();
            self.eventually(|| Some(made()).filter(|answer| !matches!(answer.status, 404 | 429))).success().unwrap();
        }
        // The first list of a resource may come before its cache is filled.
        self.eventually(|| Some(self.get(&format!("{}?resourceVersion=0", resource.all()))).filter(|list| list.status == 200));
    }

    /// Creates custom resources and waits until discovery lists them; no object is read or written.
    pub(super) fn define(&self, resources: &[&Resource]) {
        for resource in resources {
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            self.direct.post(path, &resource.definition()).unwrap().success().unwrap();
        }
        let discovery = resources.first().unwrap().all();
        let discovery = discovery.rsplit_once('/').unwrap().0.to_owned();
        self.eventually(|| {
            let served = self.get(&discovery);
            let names =
                |resource: &&Resource| served.text().contains(&format!("\"{}\"", resource.name().split('.').next().unwrap()));
            resources.iter().all(names).then_some(())
        });
    }

    /// Returns a revision that the tap sees as current, with a token at that revision; then one object is written.
    pub(super) fn prepare(&mut self, resource: &Resource) -> Ground {
        let page = self.through.get(&format!("{}?limit=3", resource.all())).unwrap().json().unwrap();
        let ground = ground_of(&page);
        self.write(resource);
        ground
    }

    /// Updates an object, and waits until the server's lists have it.
    pub(super) fn write(&mut self, resource: &Resource) {
        self.writes += 1;
        let change = json!({"metadata": {"annotations": {"writes": self.writes.to_string()}}}).to_string();
        let headers = [("Content-Type", "application/merge-patch+json")];
        let path = format!("{}/{}", resource.in_namespace(), Resource::object_name(OBJECTS - 1));
        let written = self.direct.raw("PATCH", &path, &headers, change.as_bytes()).unwrap().success().unwrap().json().unwrap();
        let written = number(&written["metadata"]["resourceVersion"]);
        self.eventually(|| {
            let list = self.get(&format!("{}?resourceVersion=0", resource.all())).json().unwrap();
            (number(&list["metadata"]["resourceVersion"]) >= written).then_some(())
        });
    }

    /// Sends a row's request until its counters are clear.
    pub(super) fn ask(&mut self, row: &Row, about: &About<'_>, ground: &Ground) {
        let About { resource, configuration, remarks, passed_on } = *about;
        let (method, path) = row.request(resource, ground);
        let mut left = TRIES;
        loop {
            left -= 1;
            let agent = self.next_agent();
            let (before, passed_before) = (self.counters(resource), passed_on());
            let answer = self.through.raw(method, &path, &[("User-Agent", &agent)], b"").unwrap();
            let moved = self.counters(resource) - before;
            let passed_on = passed_on().map(|after| after - passed_before.unwrap_or_default());
            let seen = Seen { passed_on, ..seen(row, &answer, moved, ground) };
            let measured = seen.measured();
            if measured.is_some() || left == 0 {
                let asked = Asked::of(row, resource, configuration).by(&agent, method, path);
                let unseen = row.is_unseen().then_some(Remark::Unseen);
                let remarks: Vec<Remark> = remarks.iter().cloned().chain(unseen).collect();
                return self.note(asked.measured(measured, &seen, &remarks));
            }
        }
    }

    /// Keeps the measurement until the tap's verdict is available.
    pub(super) fn note(&mut self, asked: Asked) {
        self.asked.push(asked);
    }

    /// A `User-Agent` that no other request has.
    pub(super) fn next_agent(&mut self) -> String {
        self.writes += 1;
        format!("matrix-{}", self.writes)
    }

    pub(super) fn through(&self) -> Client {
        self.through.clone()
    }

    pub(super) fn counters(&self, resource: &Resource) -> ReadCounters {
        ReadCounters::on_page(&self.direct.get("/metrics").unwrap().text(), &resource.name()).unwrap()
    }

    /// Sends a GET directly; accepts any status.
    pub(super) fn get(&self, path: &str) -> Response {
        self.direct.raw("GET", path, &[], b"").unwrap()
    }

    #[track_caller]
    pub(super) fn eventually<T>(&self, mut asked: impl FnMut() -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(given) = asked() {
                return given;
            }
            assert!(began.elapsed() < SERVED_WITHIN, "not within {SERVED_WITHIN:?}; {:?}", self.cluster.api_server_log());
            thread::sleep(PAUSE);
        }
    }

    /// Reconnects after the API server was down.
    pub(super) fn reconnect(&mut self) {
        self.through = self.tap.client().unwrap();
        self.direct = self.cluster.client_for_bulk().unwrap();
    }

    /// Ends the tap, and returns the rows with the tap's output.
    pub(super) fn finish(self) -> (Cluster, Vec<Asked>, Finished) {
        drop((self.through, self.direct));
        (self.cluster, self.asked, self.tap.finish().unwrap())
    }
}

/// The facts in an answer.
pub(super) fn seen(row: &Row, answer: &Response, moved: ReadCounters, ground: &Ground) -> Seen {
    let is_watch = row.act == Act::Watch;
    let body = answer.json().unwrap_or(Value::Null);
    let is_named = ["{n}", "{token}"].iter().any(|blank| row.query.contains(blank));
    let named = if row.is_unseen() { Some(OLD) } else { is_named.then_some(ground.revision) };
    Seen {
        act: row.act,
        status: answer.status,
        revision: matches!(row.act, Act::List | Act::DeleteCollection)
            .then(|| body["metadata"]["resourceVersion"].as_str()?.parse().ok())
            .flatten(),
        named,
        error: is_watch.then(|| error_event(&answer.text())).flatten(),
        moved,
        passed_on: None,
    }
}

/// The placeholder values from a page.
pub(super) fn ground_of(page: &Value) -> Ground {
    let token = page["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
    Ground { revision: number(&page["metadata"]["resourceVersion"]), token }
}

fn error_event(stream: &str) -> Option<u16> {
    let mut events = stream.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let error = events.rfind(|event| event["type"] == "ERROR")?;
    error["object"]["code"].as_u64().and_then(|code| u16::try_from(code).ok())
}

#[track_caller]
fn number(revision: &Value) -> u64 {
    revision.as_str().unwrap_or_else(|| panic!("no revision: {revision}")).parse().unwrap()
}
