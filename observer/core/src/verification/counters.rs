//! A server's own counts of its reads of one resource, from its `/metrics`.

use std::borrow::Cow;
use std::ops::{Add, Sub};

use serde::Serialize;

use crate::k8s::Resource;
use crate::logs::RangeRead;
use crate::metrics::Sample;
use crate::routing::resource_prefix;

/// Prefix of the keys of all objects. Labels of metrics omit it.
const ROOT: &str = "/registry/";

/// Counts since the server started, or their difference between two pages.
///
/// Upstream: kubernetes/apiserver `pkg/storage/cacher/metrics/metrics.go` and `pkg/storage/etcd3/metrics/metrics.go`, v0.23 and
/// later, and `pkg/storage/metrics/metrics.go` of v0.37, where one metric counts both layers (§5.2 of docs/semantics.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Lists that a watch cache answered.
    pub cache_lists: i64,
    /// Lists that etcd's storage layer answered. Up to 1.36, a request for etcd's current revision counts as such a list.
    pub storage_lists: i64,
    /// Requests to etcd for one key: for an object, or for etcd's current revision.
    pub etcd_gets: i64,
    /// Requests to etcd for a range of objects.
    pub etcd_lists: i64,
    /// Lists from a cache that had first caught up with etcd.
    pub consistent_reads: i64,
    /// Consistent reads whose cache did not catch up in time, so that etcd answered.
    pub fallbacks: i64,
    /// Initial events of watches, which a watch cache sends for the objects that exist.
    pub initial_events: i64,
    /// Messages that the server sent to etcd on watches, for all resources, since servers do not count them by resource. One
    /// message opens a watch. A server that waits for a revision sends more messages.
    pub etcd_watch_messages: i64,
}

/// The counters of some resources on one page of `/metrics`.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricsPage {
    resources: Vec<Counted>,
    /// Whether the page has the counters that every measurement needs.
    lists_are_counted: bool,
    /// `git_version` of the server that wrote it.
    pub version: Option<String>,
    /// When that server started, in seconds since 1970. It distinguishes servers behind one address.
    pub started: Option<f64>,
}

/// The counters of one resource.
#[derive(Clone, Debug, PartialEq)]
struct Counted {
    names: Names,
    counters: Counters,
    /// Lists that a watch cache answered, by the metric of servers up to 1.36 (`apiserver_cache_list_total`). 1.37 can be
    /// configured to have this metric beside its successor.
    old_cache_lists: i64,
}

/// The names of a resource in the labels of all versions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Names {
    resource: Resource,
    /// `apps`.
    group: String,
    /// `deployments.apps`.
    joined: String,
    /// `services/specs`.
    prefix: String,
}

impl MetricsPage {
    /// An empty page that will count these resources.
    pub fn of(resources: &[Resource]) -> Self {
        let counted = |resource| Counted { names: Names::of(resource), counters: Counters::default(), old_cache_lists: 0 };
        let resources = resources.iter().map(counted).collect();
        Self { resources, lists_are_counted: false, version: None, started: None }
    }

    /// Takes one sample of the page. Most samples have no effect.
    pub fn note(&mut self, sample: &Sample<'_>) {
        match sample.name {
            "kubernetes_build_info" => self.version = sample.label("git_version").map(Cow::into_owned),
            "process_start_time_seconds" => self.started = Some(sample.value),
            "grpc_client_msg_sent_total" if sample.label("grpc_method").is_some_and(|method| method == "Watch") => {
                for counted in &mut self.resources {
                    let messages = &mut counted.counters.etcd_watch_messages;
                    *messages = messages.saturating_add(to_integer(sample.value));
                }
            }
            _ => self.note_of_resource(sample),
        }
    }

    /// The counters of `resource`; zero for a resource that the page does not count.
    pub fn counters(&self, resource: &Resource) -> Counters {
        let counted = self.resources.iter().find(|counted| counted.names.resource == *resource);
        counted.map(Counted::counters).unwrap_or_default()
    }

    /// Whether this server has the counters that measurements need. 1.23 and later have them; 1.26 and later label them with names
    /// of resources.
    pub fn counts_lists(&self) -> bool {
        self.lists_are_counted
    }

    /// Whether the same process wrote `other`.
    pub fn is_of_the_server_of(&self, other: &Self) -> bool {
        self.started == other.started && self.version == other.version
    }

    fn note_of_resource(&mut self, sample: &Sample<'_>) {
        let Some(counter) = counter_of(sample) else { return };
        self.lists_are_counted |= sample.name == "apiserver_storage_list_total";
        for counted in self.resources.iter_mut().filter(|counted| counted.names.are_of(sample)) {
            let counter = counter(counted);
            *counter = counter.saturating_add(to_integer(sample.value));
        }
    }
}

/// The count that a sample is part of; `None` if it is part of none.
fn counter_of(sample: &Sample<'_>) -> Option<fn(&mut Counted) -> &mut i64> {
    let has = |label: &str, value: &str| sample.label(label).is_some_and(|found| found == value);
    match sample.name {
        "apiserver_cache_list_total" => Some(|counted| &mut counted.old_cache_lists),
        "apiserver_storage_list_total" if has("storage", "watchcache") => Some(|counted| &mut counted.counters.cache_lists),
        "apiserver_storage_list_total" => Some(|counted| &mut counted.counters.storage_lists),
        // Every server since 1.16 has it; `etcd_requests_total` is newer.
        "etcd_request_duration_seconds_count" if has("operation", "get") || has("operation", "getCurrentResourceVersion") => {
            Some(|counted| &mut counted.counters.etcd_gets)
        }
        "etcd_request_duration_seconds_count" if has("operation", "list") || has("operation", "listStream") => {
            Some(|counted| &mut counted.counters.etcd_lists)
        }
        "apiserver_watch_cache_consistent_read_total" if has("fallback", "true") => Some(|counted| &mut counted.counters.fallbacks),
        "apiserver_watch_cache_consistent_read_total" if has("success", "true") => {
            Some(|counted| &mut counted.counters.consistent_reads)
        }
        "apiserver_init_events_total" => Some(|counted| &mut counted.counters.initial_events),
        _ => None,
    }
}

impl Counted {
    fn counters(&self) -> Counters {
        Counters { cache_lists: self.counters.cache_lists.max(self.old_cache_lists), ..self.counters }
    }
}

impl Names {
    /// Events of `events.k8s.io` are counted under the name of the core group (kubernetes
    /// `pkg/registry/core/event/storage/storage.go`).
    fn of(resource: &Resource) -> Self {
        let is_event = resource.group == "events.k8s.io" && resource.resource == "events";
        let group = if is_event { String::new() } else { resource.group.clone() };
        let counted_as = Resource { group, ..resource.clone() };
        let prefix = resource_prefix(&counted_as).trim_start_matches(ROOT).to_owned();
        Self { resource: resource.clone(), joined: counted_as.to_string(), group: counted_as.group, prefix }
    }

    /// Whether the labels of a sample name this resource. Servers have `group` and `resource` from 1.34 on. Earlier, they have one
    /// label with the joined name or the prefix of the keys.
    fn are_of(&self, sample: &Sample<'_>) -> bool {
        let is_prefix = |label: &str| label.strip_prefix('/').is_some_and(|prefix| prefix == self.prefix);
        let resource = sample.label("resource").or_else(|| sample.label("type")).or_else(|| sample.label("resource_prefix"));
        let Some(resource) = resource else { return false };
        match sample.label("group") {
            Some(group) => group == self.group && resource == self.resource.resource,
            None => resource == self.joined || is_prefix(&resource),
        }
    }
}

impl Add for Counters {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            cache_lists: self.cache_lists.saturating_add(more.cache_lists),
            storage_lists: self.storage_lists.saturating_add(more.storage_lists),
            etcd_gets: self.etcd_gets.saturating_add(more.etcd_gets),
            etcd_lists: self.etcd_lists.saturating_add(more.etcd_lists),
            consistent_reads: self.consistent_reads.saturating_add(more.consistent_reads),
            fallbacks: self.fallbacks.saturating_add(more.fallbacks),
            initial_events: self.initial_events.saturating_add(more.initial_events),
            etcd_watch_messages: self.etcd_watch_messages.saturating_add(more.etcd_watch_messages),
        }
    }
}

impl Sub for Counters {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            cache_lists: self.cache_lists.saturating_sub(before.cache_lists),
            storage_lists: self.storage_lists.saturating_sub(before.storage_lists),
            etcd_gets: self.etcd_gets.saturating_sub(before.etcd_gets),
            etcd_lists: self.etcd_lists.saturating_sub(before.etcd_lists),
            consistent_reads: self.consistent_reads.saturating_sub(before.consistent_reads),
            fallbacks: self.fallbacks.saturating_sub(before.fallbacks),
            initial_events: self.initial_events.saturating_sub(before.initial_events),
            etcd_watch_messages: self.etcd_watch_messages.saturating_sub(before.etcd_watch_messages),
        }
    }
}

impl Counters {
    /// Raises each count to the number of reads in etcd's own log, if that is higher: a server does not count all of its reads.
    #[must_use]
    pub fn with_etcd_reads(self, resource: &Resource, reads: &[RangeRead]) -> Self {
        let prefix = resource_prefix(resource);
        let is_of_resource =
            |key: &str| key.strip_prefix(&prefix).is_some_and(|behind| behind.is_empty() || behind.starts_with('/'));
        let (mut gets, mut lists) = (0, 0);
        for read in reads.iter().filter(|read| read.reads_values() && is_of_resource(&read.key)) {
            *(if read.range_end.is_empty() { &mut gets } else { &mut lists }) += 1;
        }
        Self { etcd_gets: self.etcd_gets.max(gets), etcd_lists: self.etcd_lists.max(lists), ..self }
    }

    /// Whether no counter of the resource increased. Messages on watches are ignored, because they may be for any resource.
    pub fn is_still(self) -> bool {
        Self { etcd_watch_messages: 0, ..self } == Self::default()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a count beyond 2^53 has lost its last digits in the page already")]
fn to_integer(value: f64) -> i64 {
    value as i64
}
