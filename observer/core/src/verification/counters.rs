//! What a server counts about its reads of one resource.

use std::borrow::Cow;
use std::ops::Sub;

use serde::Serialize;

use crate::k8s::Resource;
use crate::logs::RangeRead;
use crate::metrics::Sample;
use crate::routing::resource_prefix;

/// In front of the keys of all objects; metrics leave it out.
const ROOT: &str = "/registry/";

/// Counts since the server started, or their difference between two pages.
///
/// Upstream: kubernetes/apiserver `pkg/storage/cacher/metrics/metrics.go` and `pkg/storage/etcd3/metrics/metrics.go`, v0.23 and later, and
/// `pkg/storage/metrics/metrics.go` of v0.37, where one family has both layers (§5.2 of the semantics reference).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Lists that a watch cache answered.
    pub cache_lists: i64,
    /// Lists that the storage behind it answered; up to 1.36 the question for etcd's current revision counts as one.
    pub storage_lists: i64,
    /// Requests to etcd for one key: objects, and up to 1.36 its current revision.
    pub etcd_gets: i64,
    /// Requests to etcd for a range of objects.
    pub etcd_lists: i64,
    /// Lists from a cache that had first caught up with etcd.
    pub consistent_reads: i64,
    /// Those for which it did not catch up in time, and which etcd answered.
    pub fallbacks: i64,
    /// Events that a watch cache made of its present state for a watch.
    pub initial_events: i64,
    /// Messages on watches to etcd: of all resources, as it is not counted by resource. One opens a watch; a server that waits for a
    /// revision sends others.
    pub etcd_watch_messages: i64,
}

/// One page of `/metrics`, as far as it tells of some resources.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricsPage {
    resources: Vec<(Names, Counters)>,
    /// Whether the page has the counters without which nothing can be measured.
    lists_are_counted: bool,
    /// `git_version` of the server that wrote it.
    pub version: Option<String>,
    /// When that server started, in seconds since 1970; two servers behind one address differ in it.
    pub started: Option<f64>,
}

/// What a resource is called in the labels of any version.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Names {
    resource: Resource,
    /// `deployments.apps`.
    joined: String,
    /// `services/specs`.
    prefix: String,
}

impl MetricsPage {
    /// A page that is to be read for those resources.
    pub fn of(resources: &[Resource]) -> Self {
        let names = resources.iter().map(|resource| Names {
            resource: resource.clone(),
            joined: resource.to_string(),
            prefix: resource_prefix(resource).trim_start_matches(ROOT).to_owned(),
        });
        let resources = names.map(|names| (names, Counters::default())).collect();
        Self { resources, lists_are_counted: false, version: None, started: None }
    }

    /// Takes a sample; most say nothing here.
    pub fn note(&mut self, sample: &Sample<'_>) {
        match sample.name {
            "kubernetes_build_info" => self.version = sample.label("git_version").map(Cow::into_owned),
            "process_start_time_seconds" => self.started = Some(sample.value),
            "grpc_client_msg_sent_total" if sample.label("grpc_method").is_some_and(|method| method == "Watch") => {
                for (_, counters) in &mut self.resources {
                    counters.etcd_watch_messages += whole(sample.value);
                }
            }
            _ => self.note_of_resource(sample),
        }
    }

    /// What was counted of `resource`.
    pub fn counters(&self, resource: &Resource) -> Counters {
        self.resources.iter().find(|(names, _)| names.resource == *resource).map(|(_, counters)| *counters).unwrap_or_default()
    }

    /// Whether this server counts what has to be known: 1.23 and later do.
    pub fn counts_lists(&self) -> bool {
        self.lists_are_counted
    }

    fn note_of_resource(&mut self, sample: &Sample<'_>) {
        let Some(counter) = counter_of(sample) else { return };
        self.lists_are_counted |= sample.name == "apiserver_storage_list_total";
        for (names, counters) in &mut self.resources {
            if names.are_of(sample) {
                *counter(counters) += whole(sample.value);
            }
        }
    }
}

/// Which count a sample is part of.
fn counter_of(sample: &Sample<'_>) -> Option<fn(&mut Counters) -> &mut i64> {
    let has = |label: &str, value: &str| sample.label(label).is_some_and(|found| found == value);
    match sample.name {
        "apiserver_cache_list_total" => Some(|counters| &mut counters.cache_lists),
        "apiserver_storage_list_total" if has("storage", "watchcache") => Some(|counters| &mut counters.cache_lists),
        "apiserver_storage_list_total" => Some(|counters| &mut counters.storage_lists),
        // Of every server since 1.16; `etcd_requests_total` is younger.
        "etcd_request_duration_seconds_count" if has("operation", "get") || has("operation", "getCurrentResourceVersion") => {
            Some(|counters| &mut counters.etcd_gets)
        }
        "etcd_request_duration_seconds_count" if has("operation", "list") || has("operation", "listStream") => {
            Some(|counters| &mut counters.etcd_lists)
        }
        "apiserver_watch_cache_consistent_read_total" if has("fallback", "true") => Some(|counters| &mut counters.fallbacks),
        "apiserver_watch_cache_consistent_read_total" if has("success", "true") => Some(|counters| &mut counters.consistent_reads),
        "apiserver_init_events_total" => Some(|counters| &mut counters.initial_events),
        _ => None,
    }
}

impl Names {
    /// `group` and `resource` from 1.34 on; before, one label with the joined name or the prefix of the keys.
    fn are_of(&self, sample: &Sample<'_>) -> bool {
        let is_prefix = |label: &str| label.strip_prefix('/').is_some_and(|prefix| prefix == self.prefix);
        let resource = sample.label("resource").or_else(|| sample.label("type")).or_else(|| sample.label("resource_prefix"));
        let Some(resource) = resource else { return false };
        match sample.label("group") {
            Some(group) => group == self.resource.group && resource == self.resource.resource,
            None => resource == self.joined || is_prefix(&resource),
        }
    }
}

impl Sub for Counters {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            cache_lists: self.cache_lists - before.cache_lists,
            storage_lists: self.storage_lists - before.storage_lists,
            etcd_gets: self.etcd_gets - before.etcd_gets,
            etcd_lists: self.etcd_lists - before.etcd_lists,
            consistent_reads: self.consistent_reads - before.consistent_reads,
            fallbacks: self.fallbacks - before.fallbacks,
            initial_events: self.initial_events - before.initial_events,
            etcd_watch_messages: self.etcd_watch_messages - before.etcd_watch_messages,
        }
    }
}

impl Counters {
    /// The same with what etcd's own log says of its reads, which is exact: who asked, for which keys.
    #[must_use]
    pub fn with_etcd_reads(self, resource: &Resource, reads: &[RangeRead]) -> Self {
        let prefix = resource_prefix(resource);
        let is_of_resource =
            |key: &str| key.strip_prefix(&prefix).is_some_and(|behind| behind.is_empty() || behind.starts_with('/'));
        let (mut gets, mut lists) = (0, 0);
        for read in reads.iter().filter(|read| read.reads_values() && is_of_resource(&read.key)) {
            *(if read.range_end.is_empty() { &mut gets } else { &mut lists }) += 1;
        }
        Self { etcd_gets: gets, etcd_lists: lists, ..self }
    }

    /// Whether nothing was read of the resource. Messages on watches may be of any resource.
    pub fn is_still(self) -> bool {
        Self { etcd_watch_messages: 0, ..self } == Self::default()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a count beyond 2^53 has lost its last digits in the page already")]
fn whole(value: f64) -> i64 {
    value as i64
}
