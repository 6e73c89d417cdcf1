//! All state at one moment, as plain data.

use serde::Serialize;

use super::etcd_load::{EtcdLoad, EtcdReads};
use super::faults::Faults;
use super::finding::{Exposure, Finding, Problem, is_muted, problems};
use super::inventory::Inventory;
use super::missed::Missed;
use super::outages::Outages;
use super::record::RequestRecord;
use super::rows::{ListRow, OtherRow, WatchRow};
use super::upstreams::UpstreamRecord;
use crate::observation::{JoinedRequests, Plaintext};
use crate::quantity::Amount;
use crate::reflector::{ClientRow, PropagationRow, ReflectorRow};
use crate::routing::ServerProfile;
use crate::storm::StormRecord;
use crate::time::{PerSecond, Timestamp};

/// Totals over all observed traffic, including data that fell out of the tables.
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
    /// Lists among them that read their objects from etcd.
    pub lists_from_etcd: u64,
    /// Lists among them whose layer is unknown.
    pub lists_unknown: u64,
    /// Reads from etcd by these lists, by gets and by watches.
    pub etcd_reads: EtcdReads,
    /// Finished requests whose answer confirmed the layer of the verdict.
    pub confirmed: u64,
    /// Finished requests whose answer contradicted the layer. Both counts together show how far verdicts can be trusted here.
    pub contradicted: u64,
    /// Relists of clients that still had their state, including watches that send all objects again.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub relists: u64,
    /// Watches that continue from the last resource version, without a list.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub resumes: u64,
    /// Storms, ongoing ones included.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub storms: u64,
    /// Reflectors that are stuck now.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub stuck: u64,
    /// Watches, finished or not.
    pub watches: u64,
    /// Watches among them that the server accepted and that are open.
    pub watches_open: u64,
    /// Items of all finished lists.
    pub items: Amount,
    /// Events of all finished watches, without bookmarks.
    pub watch_events: Amount,
    /// Bytes of the response bodies of all finished requests.
    pub response_bytes: Amount,
    /// Requests of the tap and of the API server's logs, by whether both have them; `None` without such logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined: Option<JoinedRequests>,
    /// Bytes that the tap read in order to forward them, over all closed connections.
    pub forwarded: Plaintext,
    /// Bytes among these that decoders were given; the rest is in [`Missed::bytes`].
    pub observed: Plaintext,
}

/// Recent rates over all observed traffic: averages in which older occurrences fade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rates {
    /// Requests of any kind.
    pub requests_per_second: PerSecond,
    /// Events of watches, without bookmarks.
    pub watch_events_per_second: PerSecond,
    /// Bytes of response bodies.
    pub response_bytes_per_second: PerSecond,
}

/// The state of an [`super::Observer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// When the first observation was made; `None` before it.
    pub started: Option<Timestamp>,
    /// When the last one was made.
    pub at: Timestamp,
    /// When the shutdown was requested. Reflectors, findings and [`Self::exposure`] show the state at this time; counts continue
    /// until [`Self::at`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shutdown_requested: Option<Timestamp>,
    /// The known facts about the API server, with their basis. If clients used several API servers, this describes the first that
    /// the tap named.
    pub profile: ServerProfile,
    /// The API servers that clients used, by name; empty if they used only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub upstreams: Vec<UpstreamRecord>,
    /// Counts over the run.
    pub totals: Totals,
    /// Recent rates.
    pub rates: Rates,
    /// Lists by shape and rule, the most bytes first.
    pub lists: Vec<ListRow>,
    /// Watches by shape and rule, the most bytes first.
    pub watches: Vec<WatchRow>,
    /// Everything else by verb, shape and rule, the most bytes first.
    pub others: Vec<OtherRow>,
    /// Clients with their requests. The clients whose requests took longest in total come first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<ClientRow>,
    /// Findings grouped by cause: ongoing ones first, then the worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// Times in which API servers, and therefore the tap's listeners, refused connections.
    #[serde(skip_serializing_if = "Outages::is_none")]
    pub outages: Outages,
    /// The faults that a demo cluster played, and what clients did after each.
    #[serde(skip_serializing_if = "Faults::is_none")]
    pub faults: Faults,
    /// Diagnoses with evidence and advice, the worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Number of findings that the user muted.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub findings_muted: u64,
    /// The relists that a restart of the API server would cause now.
    pub exposure: Exposure,
    /// Ongoing storms, then the past storms, the latest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub storms: Vec<StormRecord>,
    /// Reflectors, and clients that only list or only watch. Stuck ones come first, then those that relisted most often, then those
    /// that cost most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reflectors: Vec<ReflectorRow>,
    /// The objects that connected clients keep in memory; the clients with the most bytes come first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inventory: Vec<Inventory>,
    /// How long clients wait for their own writes to arrive on their own watches, the slowest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub propagation: Vec<PropagationRow>,
    /// Single requests: the latest finished ones in the order of their end, then those under way.
    pub requests: Vec<RequestRecord>,
    /// Counters of all data that the snapshot omits.
    pub missed: Missed,
}

impl Snapshot {
    /// The load of lists on etcd.
    pub fn etcd_load(&self) -> EtcdLoad {
        self.totals.etcd_reads.load(self.totals.lists_from_etcd, self.at.since(self.started.unwrap_or(self.at)))
    }

    /// The time that the state of [`Self::reflectors`] refers to: the shutdown request if there was one, otherwise [`Self::at`].
    pub fn reflectors_at(&self) -> Timestamp {
        self.shutdown_requested.unwrap_or(self.at)
    }

    /// Removes the findings with these identifiers, and counts them. A kind with a colon, such as `poller:`, mutes all findings of
    /// this kind.
    #[must_use]
    pub fn without_findings(mut self, muted: &[String]) -> Self {
        let before = self.findings.len();
        let is_muted = |id: &str| is_muted(id, muted);
        self.findings.retain(|finding| !is_muted(&finding.id));
        self.faults.mute(is_muted);
        self.problems = problems(&self.findings, &self.reflectors);
        self.findings_muted = self.findings_muted.saturating_add(before.saturating_sub(self.findings.len()) as u64);
        self
    }

    /// Removes the API server's name, for runs with only one API server.
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
