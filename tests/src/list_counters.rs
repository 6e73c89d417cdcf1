//! Reads the server's own counters, to find out which layer answered the lists of one resource.
//!
//! `apiserver_storage_list_total` alone does not prove a list from etcd: a consistent read from the cache also counts there,
//! because it asks etcd for the current revision. Only an etcd request of operation `list` reads objects.
//!
//! Labels changed over time (kubernetes, `staging/src/k8s.io/apiserver/pkg/storage/{cacher,etcd3}/metrics/metrics.go`): up to 1.31
//! `resource_prefix="/deployments"`, `resource="deployments.apps"` and `type="deployments.apps"`; in 1.34 everywhere
//! `group="apps",resource="deployments"`.

use std::ops::Sub;

use crate::metrics::{Metrics, Series};

/// Counts of one resource since the server started, or the difference of two moments: `after - before`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListCounters {
    /// C: lists answered by the watch cache (`apiserver_cache_list_total`).
    pub cache_lists: i64,
    /// S: lists that reached the storage layer (`apiserver_storage_list_total`).
    pub storage_lists: i64,
    /// g: etcd requests with operation `get`, including the revision requests of consistent reads.
    pub etcd_gets: i64,
    /// l: etcd requests that read many objects (operation `list`).
    pub etcd_lists: i64,
    /// Consistent reads answered by the cache (`apiserver_watch_cache_consistent_read_total`, success and no fallback).
    pub consistent_reads: i64,
}

impl ListCounters {
    /// Extracts the counts of a resource, as in `podtemplates` or `deployments.apps`.
    pub fn of(metrics: &Metrics, resource: &str) -> Self {
        let sum = |name: &str, labels: &[(&str, &str)]| {
            let carries = |series: &Series| labels.iter().all(|(label, value)| series.label(label) == Some(value));
            let series = metrics.named(name).filter(|series| counts(series, resource));
            to_integer(series.filter(|series| carries(series)).map(Series::value).sum())
        };
        Self {
            cache_lists: sum("apiserver_cache_list_total", &[]),
            storage_lists: sum("apiserver_storage_list_total", &[]),
            etcd_gets: sum("etcd_requests_total", &[("operation", "get")]),
            etcd_lists: sum("etcd_requests_total", &[("operation", "list")]),
            consistent_reads: sum("apiserver_watch_cache_consistent_read_total", &[("success", "true"), ("fallback", "false")]),
        }
    }
}

impl Sub for ListCounters {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            cache_lists: self.cache_lists - before.cache_lists,
            storage_lists: self.storage_lists - before.storage_lists,
            etcd_gets: self.etcd_gets - before.etcd_gets,
            etcd_lists: self.etcd_lists - before.etcd_lists,
            consistent_reads: self.consistent_reads - before.consistent_reads,
        }
    }
}

/// Whether a series counts this resource, in the labels of any server version.
pub(crate) fn counts(series: &Series, resource: &str) -> bool {
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    let by_group = series.label("group") == Some(group) && series.label("resource") == Some(plural);
    let by_joined_name = series.label("group").is_none() && series.label("resource").map(bare) == Some(resource);
    let by_type = series.label("type") == Some(resource);
    // The prefix of a custom resource starts with its group; see §4.4 of docs/semantics.md.
    let of_custom_resource = |prefix: &str| prefix.split_once('/') == Some((group, plural));
    let by_prefix = series.label("resource_prefix").map(bare).is_some_and(|prefix| prefix == plural || of_custom_resource(prefix));
    by_group || by_joined_name || by_type || by_prefix
}

/// A prefix below `/registry`, without the leading slash that some have.
fn bare(prefix: &str) -> &str {
    prefix.trim_start_matches('/')
}

#[expect(clippy::cast_possible_truncation, reason = "a counter of a test's server is far below 2^53")]
pub(crate) fn to_integer(value: f64) -> i64 {
    value as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_metric_labels_give_the_same_counters() {
        let old = r#"
apiserver_cache_list_total{index="",resource_prefix="/deployments"} 5
apiserver_storage_list_total{resource="deployments.apps"} 4
etcd_requests_total{operation="get",type="deployments.apps"} 3
etcd_requests_total{operation="list",type="deployments.apps"} 2
etcd_requests_total{operation="list",type="podtemplates"} 9
apiserver_watch_cache_consistent_read_total{fallback="false",resource="deployments.apps",success="true"} 1"#;
        let new = r#"
apiserver_cache_list_total{group="apps",index="",resource="deployments"} 5
apiserver_cache_list_total{group="extensions",index="",resource="deployments"} 9
apiserver_storage_list_total{group="apps",resource="deployments"} 4
etcd_requests_total{group="apps",operation="get",resource="deployments"} 3
etcd_requests_total{group="apps",operation="list",resource="deployments"} 2
apiserver_watch_cache_consistent_read_total{fallback="false",group="apps",resource="deployments",success="true"} 1
apiserver_watch_cache_consistent_read_total{fallback="true",group="apps",resource="deployments",success="true"} 9"#;
        let expected = ListCounters { cache_lists: 5, storage_lists: 4, etcd_gets: 3, etcd_lists: 2, consistent_reads: 1 };
        for scrape in [old, new] {
            assert_eq!(ListCounters::of(&Metrics::parse(scrape).unwrap(), "deployments.apps"), expected);
        }
    }
}
