//! All that is known at one moment, as plain data.

use serde::Serialize;

use super::etcd_load::{EtcdLoad, EtcdReads};
use super::finding::{Exposure, Finding, Problem, problems};
use super::missed::Missed;
use super::outages::Outages;
use super::record::{RequestRecord, VerdictRecord};
use super::upstreams::UpstreamRecord;
use crate::exchange::Shape;
use crate::k8s::Verb;
use crate::observation::Plaintext;
use crate::reflector::{PropagationRow, ReflectorRow};
use crate::routing::ServerProfile;
use crate::storm::StormRecord;
use crate::time::{PerSecond, Timestamp};

/// Totals over everything that was seen, whatever fell out of the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Client connections.
    pub connections: u64,
    /// Requests of any kind.
    pub requests: u64,
    /// Requests that are under way.
    pub open: u64,
    /// Finished lists.
    pub lists: u64,
    /// Those among them that read their objects from etcd.
    pub lists_from_etcd: u64,
    /// Those among them of which it is not known.
    pub lists_unknown: u64,
    /// What these lists, and gets, read from etcd.
    pub etcd_reads: EtcdReads,
    /// Finished requests whose verdict the answer confirmed.
    pub confirmed: u64,
    /// Finished requests whose verdict the answer contradicted; with the number before, how far verdicts can be trusted here.
    pub contradicted: u64,
    /// Lists of reflectors that had one.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub relists: u64,
    /// Watches that went on where the one before had ended.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub resumes: u64,
    /// Storms, those that go on included.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub storms: u64,
    /// Reflectors that are stuck now.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub stuck: u64,
    /// Watches, finished or not.
    pub watches: u64,
    /// Those among them that were granted and are open.
    pub watches_open: u64,
    /// Items of all finished lists.
    pub items: u64,
    /// Events of all finished watches, bookmarks not counted.
    pub watch_events: u64,
    /// Bytes of the response bodies of all finished requests.
    pub response_bytes: u64,
    /// What was read to be passed on, over all connections that are closed.
    pub forwarded: Plaintext,
    /// What decoders were shown of it; the rest is in [`Missed::bytes`].
    pub observed: Plaintext,
}

/// How much there was of late, over everything that was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rates {
    /// Requests of any kind.
    pub requests_per_second: PerSecond,
    /// Events of watches, bookmarks not counted.
    pub watch_events_per_second: PerSecond,
    /// Bytes of response bodies.
    pub response_bytes_per_second: PerSecond,
}

/// Finished lists of one shape that were answered by one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListRow {
    /// What was asked.
    #[serde(flatten)]
    pub shape: Shape,
    /// Which layer answered; `etcd_reads` are those of the first.
    pub verdict: Option<VerdictRecord>,
    /// Whether others read other keys or revisions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub etcd_reads_vary: bool,
    /// How many lists.
    pub count: u64,
    /// How many were answered with 4xx or 5xx.
    pub failed: u64,
    /// Items of all of them.
    pub items: u64,
    /// Answers that were not understood, so that the number before is a lower bound.
    pub unread: u64,
    /// Bytes that were not seen, likewise.
    pub missed_bytes: u64,
    /// Bytes of all their bodies.
    pub bytes: u64,
    /// Median time to the head of the response, in microseconds (two significant digits); nothing where no response came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_us: Option<u64>,
    /// Median time to the end, in microseconds (two significant digits).
    pub total_us: u64,
}

/// Watches of one shape that were answered by one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatchRow {
    /// What was asked.
    #[serde(flatten)]
    pub shape: Shape,
    /// Which layer answered; `etcd_reads` are those of the first.
    pub verdict: Option<VerdictRecord>,
    /// Whether others read other keys or revisions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub etcd_reads_vary: bool,
    /// How many watches.
    pub count: u64,
    /// How many are open.
    pub open: u64,
    /// How many were refused or broke with an `ERROR` event.
    pub failed: u64,
    /// Events about objects.
    pub events: u64,
    /// Answers that were not understood, so that the number before is a lower bound.
    pub unread: u64,
    /// Bytes that were not seen, likewise.
    pub missed_bytes: u64,
    /// Bookmarks.
    pub bookmarks: u64,
    /// Bytes of all their bodies.
    pub bytes: u64,
    /// How long they were or are open, all together, in microseconds.
    pub open_us: u64,
    /// How the last one ended; empty while none has.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_end: String,
}

/// Finished requests that are neither lists nor watches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherRow {
    /// What was to be done.
    pub verb: Option<Verb>,
    /// With what.
    #[serde(flatten)]
    pub shape: Shape,
    /// Which layer answered a get; `etcd_reads` are those of the first.
    pub verdict: Option<VerdictRecord>,
    /// Whether others read other keys or revisions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub etcd_reads_vary: bool,
    /// How many.
    pub count: u64,
    /// How many were answered with 4xx or 5xx.
    pub failed: u64,
    /// Bytes of all their bodies.
    pub bytes: u64,
    /// Median time to the end, in microseconds (two significant digits).
    pub total_us: u64,
}

/// The state of an [`super::Observer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// When the first observation was made; `None` before it.
    pub started: Option<Timestamp>,
    /// When the last one was made.
    pub at: Timestamp,
    /// When the shutdown was requested: what reflectors are about, findings and [`Self::exposure`] are of then, all counts of [`Self::at`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shutdown_requested: Option<Timestamp>,
    /// What is known of the API server, and on what that rests. Where clients used several, that of the first that the tap named.
    pub profile: ServerProfile,
    /// The API servers that clients used, by name, if they are more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub upstreams: Vec<UpstreamRecord>,
    /// Totals.
    pub totals: Totals,
    /// How much there was of late.
    pub rates: Rates,
    /// Lists by shape and rule, the most bytes first.
    pub lists: Vec<ListRow>,
    /// Watches by shape and rule, the most bytes first.
    pub watches: Vec<WatchRow>,
    /// Everything else by verb, shape and rule, the most bytes first.
    pub others: Vec<OtherRow>,
    /// What is wrong, by cause: first what lasts, then the worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// When API servers refused connections, and our ports with them.
    #[serde(skip_serializing_if = "Outages::is_none")]
    pub outages: Outages,
    /// What should be changed, the worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Findings that are not told because nobody wants to hear them.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub findings_muted: u64,
    /// What a restart of the API server would cost now.
    pub exposure: Exposure,
    /// Storms: those that go on, then the latest of those that are over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub storms: Vec<StormRecord>,
    /// Reflectors, and clients that list or watch otherwise: what is stuck, then what listed again most often, then what cost most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reflectors: Vec<ReflectorRow>,
    /// How long clients wait for their own writes to come back by their own watches, the slowest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub propagation: Vec<PropagationRow>,
    /// Single requests: the latest finished ones in the order of their end, then those that are under way.
    pub requests: Vec<RequestRecord>,
    /// What all this leaves out.
    pub missed: Missed,
}

impl Snapshot {
    /// How much lists read from etcd.
    pub fn etcd_load(&self) -> EtcdLoad {
        self.totals.etcd_reads.load(self.totals.lists_from_etcd, self.at.since(self.started.unwrap_or(self.at)))
    }

    /// When reflectors were as they are here.
    pub fn reflectors_at(&self) -> Timestamp {
        self.shutdown_requested.unwrap_or(self.at)
    }

    /// The same without the findings of these identifiers; `poller:` mutes all of a kind, since identifiers begin with it.
    #[must_use]
    pub fn without_findings(mut self, muted: &[String]) -> Self {
        let before = self.findings.len();
        let is_muted = |id: &str| muted.iter().any(|muted| id == muted || (muted.ends_with(':') && id.starts_with(muted)));
        self.findings.retain(|finding| !is_muted(&finding.id));
        self.problems = problems(&self.findings);
        self.findings_muted = self.findings_muted.saturating_add(before.saturating_sub(self.findings.len()) as u64);
        self
    }

    /// Where there is one API server, nobody needs to hear its name at every request.
    pub(super) fn without_upstream_names(mut self) -> Self {
        let lists = self.lists.iter_mut().map(|row| &mut row.shape);
        let watches = self.watches.iter_mut().map(|row| &mut row.shape);
        let others = self.others.iter_mut().map(|row| &mut row.shape);
        let requests = self.requests.iter_mut().map(|record| &mut record.shape);
        for shape in lists.chain(watches).chain(others).chain(requests) {
            shape.upstream = None;
        }
        self.storms.iter_mut().for_each(StormRecord::drop_upstream_name);
        self.reflectors.iter_mut().for_each(ReflectorRow::drop_upstream_name);
        self.findings.iter_mut().for_each(|finding| finding.shape.upstream = None);
        self.outages.drop_upstream_names();
        self.exposure.exposed.iter_mut().for_each(|exposed| exposed.shape.upstream = None);
        self
    }
}
