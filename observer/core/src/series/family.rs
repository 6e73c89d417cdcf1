//! The table of all families: their names, kinds, labels and meaning.
//!
//! Names follow prometheus/docs `docs/practices/naming.md`: a prefix, the base unit in the plural, `_total` for counters.

use super::label::Label::{self, Certainty, Client, Code, End, Resource, Rule, Scope, ServedFrom, Subresource, Type, Verb};

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

/// The unit of a family, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    One,
    /// Bytes.
    Bytes,
    /// Seconds. Samples are in microseconds.
    Seconds,
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

impl FamilyRow {
    /// The unit of its numbers.
    pub fn unit(&self) -> Unit {
        match self.name.trim_end_matches("_total") {
            name if name.ends_with("_bytes") => Unit::Bytes,
            name if name.ends_with("_seconds") => Unit::Seconds,
            _ => Unit::One,
        }
    }
}

/// Bounds for requests, in microseconds. They include those of the service level objectives of kube-apiserver: 1, 5 and 30 s
/// (kubernetes/community `sig-scalability/slos/api_call_latency.md`).
const OF_REQUESTS: Kind = Kind::Histogram {
    bounds: &[5_000, 25_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000],
};

/// Bounds for watches, in microseconds: 1 s to 1 h. client-go asks for 5 to 10 minutes (`tools/cache/reflector.go`,
/// `minWatchTimeout`); the API server ends a watch without a timeout after 30 to 60 minutes (`--min-request-timeout`).
const OF_WATCHES: Kind =
    Kind::Histogram { bounds: &[1_000_000, 10_000_000, 60_000_000, 300_000_000, 600_000_000, 1_800_000_000, 3_600_000_000] };

const COUNTER: Kind = Kind::Counter;
const GAUGE: Kind = Kind::Gauge;

/// Declares the families in the order of the output: kind, name, labels and meaning.
macro_rules! families {
    ($($family:ident = $kind:ident $name:literal [$($label:ident),*] $help:literal;)+) => {
        /// A family: all counts of one thing, by label set.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Family {
            $(#[doc = concat!($help, ".")] $family,)+
        }

        /// All families, in the order of [`Family`].
        pub const FAMILIES: &[FamilyRow] =
            &[$(FamilyRow { family: Family::$family, name: $name, kind: $kind, labels: &[$($label),*], help: $help },)+];
    };
}

families! {
    Requests = COUNTER "watchtap_requests_total" [Client, Resource, Verb, Subresource, Scope, Code, ServedFrom]
        "Finished requests; a watch counts when it ends";
    RequestsInFlight = GAUGE "watchtap_requests_in_flight" [Client, Verb]
        "Requests under way, without watches";
    RequestDuration = OF_REQUESTS "watchtap_request_duration_seconds" [Verb, Resource, Scope, ServedFrom]
        "Time from the head of a request to its end, without watches";
    FirstByte = OF_REQUESTS "watchtap_first_byte_seconds" [Verb, Resource, Scope]
        "Time from the head of a request to the head of its response; of a watch, the time to establish it";
    RequestBytes = COUNTER "watchtap_request_bytes_total" [Client, Verb]
        "Bytes of request bodies";
    ResponseBytes = COUNTER "watchtap_response_bytes_total" [Client, Resource, Verb, ServedFrom]
        "Bytes of response bodies; those of watches and streams count as they come, others with the end of the response";
    ListItems = COUNTER "watchtap_list_items_total" [Client, Resource, Scope, ServedFrom]
        "Items of finished lists";
    Verdicts = COUNTER "watchtap_verdicts_total" [Rule, Certainty]
        "Verdicts on finished requests, by rule, and by what the answer proved about the layer";
    WatchesOpen = GAUGE "watchtap_watches_open" [Client, Resource, Scope]
        "Watches that were answered and are open";
    Watches = COUNTER "watchtap_watches_total" [Client, Resource, End]
        "Watches that ended or were refused, by their end";
    WatchDuration = OF_WATCHES "watchtap_watch_duration_seconds" [Resource, End]
        "Time from the response to a watch to its end, without refused watches";
    WatchEvents = COUNTER "watchtap_watch_events_total" [Client, Resource, Type]
        "Events that watches delivered, as they come";
}
