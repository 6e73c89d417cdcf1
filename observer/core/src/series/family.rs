//! The table of all families: their names, kinds, labels and meaning.
//!
//! Names follow prometheus/docs `docs/practices/naming.md`: a prefix, the base unit in the plural, `_total` for counters.

use super::label::Label::{self, Certainty, Client, Code, End, Resource, Rule, Scope, ServedFrom, Subresource, Type, Verb};

/// A family: all counts of one thing, by label set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Finished requests.
    Requests,
    /// Requests under way, other than watches.
    RequestsInFlight,
    /// From a request's head to its end, for all but watches.
    RequestDuration,
    /// From a request's head to the response's head.
    FirstByte,
    /// Bytes of request bodies.
    RequestBytes,
    /// Bytes of response bodies.
    ResponseBytes,
    /// Objects that lists returned.
    ListItems,
    /// Verdicts on finished requests.
    Verdicts,
    /// Those that were answered and have not ended.
    WatchesOpen,
    /// Watches that ended.
    Watches,
    /// How long watches were open.
    WatchDuration,
    /// Events that watches delivered.
    WatchEvents,
}

/// The kind of a family's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A count that never falls.
    Counter,
    /// A count of what exists now.
    Gauge,
    /// Durations, counted by bucket.
    Histogram {
        /// Upper bounds of the buckets in microseconds, ascending and inclusive. One more bucket has no bound.
        bounds: &'static [u64],
    },
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct FamilyRow {
    /// The family in code.
    pub family: Family,
    /// Its name, as Prometheus has it.
    pub name: &'static str,
    /// The kind of its numbers.
    pub kind: Kind,
    /// Its labels, in their order.
    pub labels: &'static [Label],
    /// Its meaning, in one sentence without a full stop.
    pub help: &'static str,
}

/// Bounds for requests, in microseconds. They include those of the service level objectives of kube-apiserver: 1, 5 and 30 s
/// (kubernetes/community `sig-scalability/slos/api_call_latency.md`).
const OF_REQUESTS: &[u64] =
    &[5_000, 25_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000];

/// Bounds for watches, in microseconds: 1 s to 1 h. client-go asks for 5 to 10 minutes (`tools/cache/reflector.go`,
/// `minWatchTimeout`); the API server ends a watch without a timeout after 30 to 60 minutes (`--min-request-timeout`).
const OF_WATCHES: &[u64] = &[1_000_000, 10_000_000, 60_000_000, 300_000_000, 600_000_000, 1_800_000_000, 3_600_000_000];

/// All families, in the order of [`Family`].
pub const FAMILIES: &[FamilyRow] = &[
    FamilyRow {
        family: Family::Requests,
        name: "watchtap_requests_total",
        kind: Kind::Counter,
        labels: &[Client, Resource, Verb, Subresource, Scope, Code, ServedFrom],
        help: "Finished requests; a watch counts when it ends",
    },
    FamilyRow {
        family: Family::RequestsInFlight,
        name: "watchtap_requests_in_flight",
        kind: Kind::Gauge,
        labels: &[Client, Verb],
        help: "Requests under way, without watches",
    },
    FamilyRow {
        family: Family::RequestDuration,
        name: "watchtap_request_duration_seconds",
        kind: Kind::Histogram { bounds: OF_REQUESTS },
        labels: &[Verb, Resource, Scope, ServedFrom],
        help: "Time from the head of a request to its end, without watches",
    },
    FamilyRow {
        family: Family::FirstByte,
        name: "watchtap_first_byte_seconds",
        kind: Kind::Histogram { bounds: OF_REQUESTS },
        labels: &[Verb, Resource, Scope],
        help: "Time from the head of a request to the head of its response; of a watch, the time to establish it",
    },
    FamilyRow {
        family: Family::RequestBytes,
        name: "watchtap_request_bytes_total",
        kind: Kind::Counter,
        labels: &[Client, Verb],
        help: "Bytes of request bodies",
    },
    FamilyRow {
        family: Family::ResponseBytes,
        name: "watchtap_response_bytes_total",
        kind: Kind::Counter,
        labels: &[Client, Resource, Verb, ServedFrom],
        help: "Bytes of response bodies; those of watches and streams count as they come, others with the end of the response",
    },
    FamilyRow {
        family: Family::ListItems,
        name: "watchtap_list_items_total",
        kind: Kind::Counter,
        labels: &[Client, Resource, Scope, ServedFrom],
        help: "Items of finished lists",
    },
    FamilyRow {
        family: Family::Verdicts,
        name: "watchtap_verdicts_total",
        kind: Kind::Counter,
        labels: &[Rule, Certainty],
        help: "Verdicts on finished requests, by rule, and by what the answer proved about the layer",
    },
    FamilyRow {
        family: Family::WatchesOpen,
        name: "watchtap_watches_open",
        kind: Kind::Gauge,
        labels: &[Client, Resource, Scope],
        help: "Watches that were answered and are open",
    },
    FamilyRow {
        family: Family::Watches,
        name: "watchtap_watches_total",
        kind: Kind::Counter,
        labels: &[Client, Resource, End],
        help: "Watches that ended or were refused, by their end",
    },
    FamilyRow {
        family: Family::WatchDuration,
        name: "watchtap_watch_duration_seconds",
        kind: Kind::Histogram { bounds: OF_WATCHES },
        labels: &[Resource, End],
        help: "Time from the response to a watch to its end, without refused watches",
    },
    FamilyRow {
        family: Family::WatchEvents,
        name: "watchtap_watch_events_total",
        kind: Kind::Counter,
        labels: &[Client, Resource, Type],
        help: "Events that watches delivered, as they come",
    },
];
