//! The table of all families: their names, kinds, labels and meaning.
//!
//! Names follow prometheus/docs `docs/practices/naming.md`: a prefix, the base unit in the plural, `_total` for counters.

use super::label::Label::{
    self, Address, Blockage, Cause, Certainty, Client, Code, Direction, End, Exposure, Finding, ListKind, LostBytes, LostCall,
    LostConnection, LostRecord, OfFamily, Protocol, Resource, Revision, Rule, Scope, Seen, Sender, ServedFrom, ServerVersion,
    Slice, Source, State, StormKind, Subresource, Tap, Trigger, Type, Unread, Upstream, Verb, Version, What,
};

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
    /// Plaintext, memory or a queue.
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

/// Bounds for own writes, in microseconds. 0 counts writes whose event came before their answer; no later write is awaited after 60 s.
const OF_WRITES: Kind =
    Kind::Histogram { bounds: &[0, 5_000, 25_000, 100_000, 250_000, 500_000, 1_000_000, 5_000_000, 30_000_000, 60_000_000] };

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

        impl Family {
            /// The names of all families, in their order.
            pub const NAMES: &[&str] = &[$($name),+];
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
    Reflectors = GAUGE "watchtap_reflectors" [Client, Resource, State]
        "Reflectors, and clients that only list or only watch, by state; those whose client has left are included";
    ReflectorStateSince = GAUGE "watchtap_reflector_state_since_timestamp_seconds" [Client, Resource, State]
        "When the reflector that has been in this state for longest entered it";
    ReflectorObjects = GAUGE "watchtap_reflector_objects" [Client, Resource]
        "Objects that the informers of connected clients hold, as far as lists and events show";
    ReflectorBehind = GAUGE "watchtap_reflector_behind_revisions" [Client, Resource]
        "Largest number of revisions by which a watching or stuck reflector is behind the newest one seen of its resource";
    ReflectorLastBookmark = GAUGE "watchtap_reflector_last_bookmark_timestamp_seconds" [Client, Resource]
        "When the last bookmark of an open watch arrived; the oldest of these times";
    ReflectorFindings = GAUGE "watchtap_reflector_findings" [Client, Resource, Finding]
        "Reflectors that ongoing findings concern";
    InitialLists = COUNTER "watchtap_initial_lists_total" [Client, Resource, ListKind]
        "Complete lists of reflectors that had no objects: new ones, and those of clients that had lost their state";
    Relists = COUNTER "watchtap_relists_total" [Client, Resource, Scope, Cause]
        "Relists of clients that still had their state, counted at their start, by cause";
    RelistItems = COUNTER "watchtap_relist_items_total" [Client, Resource]
        "Items of complete relists";
    RelistRepeatedItems = COUNTER "watchtap_relist_repeated_items_total" [Client, Resource]
        "Items of complete relists that were unchanged since the last delivery";
    RelistBytes = COUNTER "watchtap_relist_bytes_total" [Client, Resource]
        "Response bytes of complete relists";
    RelistDuration = OF_REQUESTS "watchtap_relist_duration_seconds" [Resource]
        "Time from the first request of a relist to its end, with all pages and retries";
    Resumes = COUNTER "watchtap_resumes_total" [Client, Resource]
        "Watches that continued from the last resource version, without a list";
    StreamingListFallbacks = COUNTER "watchtap_streaming_list_fallbacks_total" [Client, Resource]
        "Complete lists that replaced refused streaming lists";
    RevisionsWentBack = COUNTER "watchtap_revisions_went_back_total" [Client, Resource]
        "Lists with a lower revision than the reflector already had, although it had asked for the newest revision, or for at least its own";
    Stalls = COUNTER "watchtap_stalls_total" [Client, Resource, Blockage]
        "Times of at least 1 s in which a reflector did not read, so that the API server could not send";
    StallSeconds = COUNTER "watchtap_stall_seconds_total" [Client, Resource, Blockage]
        "Length of these times, present ones included";
    WritePropagation = OF_WRITES "watchtap_write_propagation_seconds" [Client, Resource]
        "Time from the answer to a write of a client to its event on a watch of the same client";
    Storms = COUNTER "watchtap_storms_total" [Trigger, StormKind]
        "Storms, by the trigger and kind that they had when they were declared";
    StormsActive = GAUGE "watchtap_storms_active" []
        "Ongoing storms";
    StormMembers = GAUGE "watchtap_storm_members" []
        "Reflectors in ongoing storms";
    StormRelists = COUNTER "watchtap_storm_relists_total" [Trigger]
        "Relists that members of storms began, by the trigger that the storm had at that time";
    StormItems = COUNTER "watchtap_storm_items_total" [Trigger]
        "Items of complete lists of members of storms";
    StormRepeatedItems = COUNTER "watchtap_storm_repeated_items_total" [Trigger]
        "Items of complete lists of members of storms that were unchanged since the last delivery";
    StormBytes = COUNTER "watchtap_storm_bytes_total" [Trigger]
        "Response bytes of complete lists of members of storms";
    ExposureReflectors = GAUGE "watchtap_exposure_reflectors" [Exposure]
        "Watching reflectors that would relist if the API server restarted now";
    ExposureItems = GAUGE "watchtap_exposure_items" []
        "Objects of the reflectors that would relist for certain";
    ExposureBytes = GAUGE "watchtap_exposure_bytes" []
        "Bytes of the last lists of the reflectors that would relist for certain";
    Findings = GAUGE "watchtap_findings" [Finding]
        "Ongoing findings, by kind, without muted ones; 64 at most";
    UpstreamInfo = GAUGE "watchtap_upstream_info" [Upstream, ServerVersion, Source]
        "An API server, with its version and the source of that version; always 1";
    UpstreamRefusing = GAUGE "watchtap_upstream_refusing" [Upstream]
        "Whether an API server refuses connections: 1 or 0";
    ConnectionsOpen = GAUGE "watchtap_connections_open" [Protocol]
        "Open connections of clients";
    Connections = COUNTER "watchtap_connections_total" [Protocol]
        "Connections of clients";
    GoAways = COUNTER "watchtap_goaways_total" [Sender]
        "GOAWAY frames";
    ConnectFailures = COUNTER "watchtap_connect_failures_total" []
        "Connections of clients that failed for a reason other than a refusal";
    ResetsInsteadOfRefused = COUNTER "watchtap_resets_instead_of_refused_total" []
        "Connections that watchtap reset, where the API server itself would have refused them";
    ForwardedBytes = COUNTER "watchtap_forwarded_bytes_total" [Direction]
        "Plaintext bytes that the tap forwarded, counted when a connection closes";
    ObservedBytes = COUNTER "watchtap_observed_bytes_total" [Direction]
        "Plaintext bytes that decoders were given, counted when a connection closes";
    MissedBytes = COUNTER "watchtap_missed_bytes_total" []
        "Forwarded bytes that decoders were not given, counted at once";
    Missed = COUNTER "watchtap_missed_total" [What]
        "Losses: data that was not observed, not followed or not kept";
    UnreadBodies = COUNTER "watchtap_unread_bodies_total" [Unread]
        "Bodies of responses that were not read, or only in part";
    ProbeLostRecords = COUNTER "watchtap_probe_lost_records_total" [LostRecord]
        "Records that a probe lost, or could not use";
    ProbeLostBytes = COUNTER "watchtap_probe_lost_bytes_total" [LostBytes]
        "Bytes that a probe lost";
    ProbeLostCalls = COUNTER "watchtap_probe_lost_calls_total" [LostCall]
        "Calls into TLS libraries that a probe could not follow";
    ProbeLostConnections = COUNTER "watchtap_probe_lost_connections_total" [LostConnection]
        "TLS connections that a probe could not follow";
    ProbeFiles = GAUGE "watchtap_probe_files" [Seen]
        "Programs and libraries that a probe knows, by how much of their calls it sees";
    ProbeAddresses = GAUGE "watchtap_probe_addresses" [Address]
        "Addresses of API servers that a probe knows, by whether it follows them";
    ProbeSliceRequests = COUNTER "watchtap_probe_endpoint_slice_requests_total" [Slice]
        "Requests of watchtap itself for the EndpointSlice with the addresses of its cluster's API servers";
    ObservingQueueBytes = GAUGE "watchtap_observing_queue_bytes" []
        "Bytes that wait to be decoded";
    LabelSetsFolded = COUNTER "watchtap_label_sets_folded_total" [OfFamily]
        "How often a label set of a counter or histogram had no room, so that it counts with the label value other";
    BuildInfo = GAUGE "watchtap_build_info" [Version, Revision, Tap]
        "This watchtap and its tap; always 1";
    ProcessCpu = COUNTER "process_cpu_seconds_total" []
        "CPU time of this process, user and system";
    ProcessStart = GAUGE "process_start_time_seconds" []
        "When this process started";
    ProcessResidentMemory = GAUGE "process_resident_memory_bytes" []
        "Resident memory of this process";
    ProcessVirtualMemory = GAUGE "process_virtual_memory_bytes" []
        "Virtual memory of this process";
    ProcessOpenFiles = GAUGE "process_open_fds" []
        "Open file descriptors of this process";
    ProcessMostFiles = GAUGE "process_max_fds" []
        "Limit of open file descriptors of this process";
    FamiliesLeftOut = GAUGE "watchtap_families_left_out" []
        "Metrics that a page leaves out, because it would exceed its bounds";
}
