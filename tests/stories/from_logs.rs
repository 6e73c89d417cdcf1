//! Compares what the logs of the API server show with what watchtap reported of the same traffic.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, ensure};
use observer_core::k8s::Verb;
use observer_core::logs::{LogClock, LogReplay};
use observer_core::observation::{Observation, Subject, UpstreamName, UpstreamObservation};
use observer_core::observer::{Event, Limits, Observer, RequestRecord};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;
use observer_tests::{Cluster, log_accuracy_folder};
use serde_json::{Value, json};

/// The results that can be compared: of a live run, or of a log.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The layers of lists and watches, by audit ID: the request and the layer.
    layers: BTreeMap<String, (String, Value)>,
    /// The causes of relists, in order, by program and resource.
    relists: BTreeMap<(String, String), Vec<String>>,
    /// The triggers of storms.
    storms: Vec<String>,
    /// The time of the last observation.
    until: Timestamp,
}

/// A log of the API server.
#[derive(Clone, Copy, Debug)]
enum Source {
    AuditLog,
    /// Its own log at `-v=3`, which has a line for each request.
    ServerLog,
}

impl Source {
    const ALL: [Self; 2] = [Self::AuditLog, Self::ServerLog];

    /// In the table.
    const fn name(self) -> &'static str {
        match self {
            Self::AuditLog => "audit log",
            Self::ServerLog => "kube-apiserver's log, -v=3",
        }
    }

    /// In names of files.
    const fn word(self) -> &'static str {
        match self {
            Self::AuditLog => "audit",
            Self::ServerLog => "server",
        }
    }

    fn read(self, cluster: &Cluster) -> Result<String> {
        Ok(match self {
            Self::AuditLog => fs::read_to_string(cluster.audit_log_file())?,
            Self::ServerLog => fs::read_to_string(cluster.api_server_log())?,
        })
    }
}

/// The number of comparisons, and each difference.
#[derive(Debug)]
struct Comparison {
    source: Source,
    compared: usize,
    /// Number of results that only the live run has.
    missing: usize,
    differences: Vec<Value>,
}

impl Seen {
    /// Takes an observation of a live run.
    pub(super) fn observe(&mut self, observation: Observation, observer: &mut Observer) {
        self.until = self.until.max(observation.at);
        observer.observe(observation, &mut |event| self.note(&event));
    }

    fn note(&mut self, event: &Event) {
        if let Event::Request { record } | Event::WatchOpened { record } = event {
            self.note_request(record);
        } else if let Event::RelistBegan { began } = event {
            let of = (began.client.program.clone(), began.shape.resource.clone());
            self.relists.entry(of).or_default().push(began.cause.to_string());
        } else if let Event::StormBegan { record } = event {
            self.storms.push(json!(record.trigger).as_str().unwrap_or_default().to_owned());
        }
    }

    fn note_request(&mut self, record: &RequestRecord) {
        let (Some(id), Some(verdict), Some(Verb::List | Verb::Watch)) = (&record.audit_id, &record.verdict, record.verb) else {
            return;
        };
        let asked = format!("{} of {} {:?}", json!(record.verb), record.shape.resource, json!(record.list_options).to_string());
        self.layers.insert(id.clone(), (asked, json!(verdict.served_from)));
    }

    /// The results of a log of an API server until this time.
    fn of_log(cluster: &Cluster, source: Source, until: Timestamp) -> Result<Self> {
        let mut profile = ServerProfile::of_version(cluster.version().parse().context("a version")?, Basis::Flag);
        // A gate that no rule depends on has no name here.
        profile.gates.extend(cluster.feature_gates().filter_map(|(gate, on)| Some((gate.parse().ok()?, on))));
        let log = source.read(cluster)?;
        let (mut seen, mut observer, mut replay) =
            (Self::default(), Observer::new(Limits::default()), LogReplay::default().with_version(&cluster.version().parse()?));
        let mut profile = Some(Box::new(profile));
        let mut each = |observation: Observation| {
            if observation.at > until {
                return;
            }
            if let Some(profile) = profile.take() {
                let subject = Subject::Upstream(UpstreamName::default(), UpstreamObservation::Profile { profile });
                observer.observe(Observation { at: observation.at, subject }, &mut |event| seen.note(&event));
            }
            observer.observe(observation, &mut |event| seen.note(&event));
        };
        // Servers of the tests write times in UTC.
        replay.begin(0, LogClock::until(until, 0));
        for line in log.lines() {
            replay.line(0, line.as_bytes(), &mut each);
        }
        replay.finish(&mut each);
        Ok(seen)
    }

    fn compare_layers(&self, log: &Self, source: Source) -> Comparison {
        let mut compared = Comparison::with(source);
        for (id, (asked, layer)) in &self.layers {
            match log.layers.get(id) {
                Some((_, of_log)) => compared.note(asked, layer, of_log),
                // kube-apiserver's own log has a watch after its end.
                None => compared.missing += 1,
            }
        }
        compared
    }

    fn compare_relists(&self, log: &Self, source: Source) -> Comparison {
        let mut compared = Comparison::with(source);
        let of_both: BTreeSet<_> = self.relists.keys().chain(log.relists.keys()).collect();
        for of in of_both {
            let both = [self, log].map(|seen| seen.relists.get(of).map_or(&[][..], Vec::as_slice));
            for number in 0..both[0].len().max(both[1].len()) {
                let [live, logged] = both.map(|causes| json!(causes.get(number)));
                compared.note(&format!("relist {} of {} by {}", number + 1, of.1, of.0), &live, &logged);
            }
        }
        compared
    }
}

impl Comparison {
    const fn with(source: Source) -> Self {
        Self { source, compared: 0, missing: 0, differences: Vec::new() }
    }

    fn note(&mut self, of: &str, live: &Value, log: &Value) {
        self.compared += 1;
        if live != log {
            let reason = reason(self.source, live, log);
            self.differences.push(json!({"of": of, "live": live, "log": log, "reason": reason}));
        }
    }

    fn json(&self) -> Value {
        json!({"compared": self.compared, "missing": self.missing, "differences": self.differences})
    }
}

/// Why a log shows less than the traffic.
fn reason(source: Source, live: &Value, log: &Value) -> &'static str {
    // A layer that is unknown is an object, with this word as its only key.
    let name =
        |value: &'_ Value| value.as_str().or_else(|| value.as_object()?.keys().next().map(String::as_str)).map(str::to_owned);
    let [live, log] = [live, log].map(|value| name(value).unwrap_or_default());
    match (live.as_str(), log.as_str()) {
        ("Snapshot", _) => "the log has no revisions of answers, so the snapshots that the API server keeps are unknown",
        (_, "" | "unknown/end-not-logged") if matches!(source, Source::ServerLog) => {
            "the API server logs a watch after its end; the log has none of watches that were open when it was killed"
        }
        ("", "expired/unknown") => "the client watches by WebSocket, which a tap does not read",
        (_, "unknown/end-not-logged") => "the log does not show why the watch ended",
        ("very-short-watch" | "connection-lost" | "stream-reset", "") => {
            "a proxy between both cut the watch, and for the API server it had not ended"
        }
        ("expired/cache-reset", "very-short-watch") => "the log does not show that the API server was restarted",
        ("connection-lost", "very-short-watch") => {
            "for the client it was a very short watch, and the log does not show the lost connection"
        }
        (_, "expired/unknown") => "the log has no bookmarks and no events",
        _ => "not explained",
    }
}

/// Compares the logs of an API server with the results of the live run, and keeps the comparisons for the table.
pub(super) fn compare(live: &Seen, cluster: &Cluster) -> Result<()> {
    let story = std::thread::current().name().context("a test has a name")?.to_owned();
    let folder = log_accuracy_folder();
    fs::create_dir_all(&folder)?;
    for source in Source::ALL {
        let logged = Seen::of_log(cluster, source, live.until)?;
        let (layers, relists) = (live.compare_layers(&logged, source), live.compare_relists(&logged, source));
        let (mut storms, mut of_log) = (live.storms.clone(), logged.storms);
        storms.sort_unstable();
        of_log.sort_unstable();
        let row = json!({
            "story": story, "version": cluster.version(), "source": source.name(),
            "layers": layers.json(), "relists": relists.json(), "storms": {"live": storms, "log": of_log},
        });
        fs::write(folder.join(format!("{}-{}.json", story.replace("::", "-"), source.word())), row.to_string())?;
        // Three forms of list are answered from a snapshot, which a log does not show.
        ensure!(layers.differences.len() <= 3, "more layers differ than those from snapshots: {row:#}");
    }
    Ok(())
}
