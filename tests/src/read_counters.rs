//! The server's counters for the reads of one resource, in more detail than [`ListCounters`](crate::ListCounters): for 1.29 to
//! 1.37, and with watches.
//!
//! kubernetes/apiserver `pkg/storage/etcd3/metrics/metrics.go`, `pkg/storage/cacher/metrics/metrics.go`, v0.29 to v0.37, and
//! `pkg/storage/metrics/metrics.go`, v0.37, where both layers share one family. The etcd client's interceptors count watches
//! (`pkg/storage/storagebackend/factory/etcd3.go`).

use std::ops::Sub;

use anyhow::Result;

use crate::list_counters::{counts, to_integer};
use crate::metrics::{Metrics, Series};

/// Counts of one resource since the server started, or the difference of two moments: `after - before`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounters {
    /// C: lists answered by the watch cache.
    pub cache_lists: i64,
    /// S: lists that reached the storage layer.
    pub storage_lists: i64,
    /// g: etcd requests for one key. Up to 1.36 they include requests for the current revision.
    pub etcd_gets: i64,
    /// Requests for the current revision, from 1.37 on.
    pub revision_requests: i64,
    /// l: etcd requests that read many objects.
    pub etcd_lists: i64,
    /// w: watch streams opened to etcd, of all resources.
    pub watch_streams: i64,
}

/// The metric families read here; a page has ten thousand lines of others.
const FAMILIES: [&str; 4] =
    ["apiserver_cache_list_total", "apiserver_storage_list_total", "etcd_requests_total", "grpc_client_started_total"];

impl ReadCounters {
    /// The counts of a resource on a page of `/metrics`.
    pub fn on_page(page: &str, resource: &str) -> Result<Self> {
        let read = |line: &&str| FAMILIES.iter().any(|family| line.starts_with(family));
        Ok(Self::of(&Metrics::parse(&page.lines().filter(read).collect::<Vec<_>>().join("\n"))?, resource))
    }

    /// The counts of a resource, as in `podtemplates` or `widgets.example.com`.
    fn of(metrics: &Metrics, resource: &str) -> Self {
        let sum = |name: &str, admits: &dyn Fn(&Series) -> bool| {
            to_integer(metrics.named(name).filter(|series| counts(series, resource) && admits(series)).map(Series::value).sum())
        };
        let operation = |name: &'static str| sum("etcd_requests_total", &|series: &Series| series.label("operation") == Some(name));
        let from_etcd = |series: &Series| series.label("storage").is_none_or(|storage| storage == "etcd");
        let from_cache = |series: &Series| series.label("storage") == Some("watchcache");
        Self {
            cache_lists: sum("apiserver_cache_list_total", &|_| true).max(sum("apiserver_storage_list_total", &from_cache)),
            storage_lists: sum("apiserver_storage_list_total", &from_etcd),
            etcd_gets: operation("get"),
            revision_requests: operation("getCurrentResourceVersion"),
            etcd_lists: operation("list") + operation("listStream"),
            watch_streams: to_integer(metrics.value("grpc_client_started_total", &[("grpc_method", "Watch")])),
        }
    }
}

impl Sub for ReadCounters {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            cache_lists: self.cache_lists - before.cache_lists,
            storage_lists: self.storage_lists - before.storage_lists,
            etcd_gets: self.etcd_gets - before.etcd_gets,
            revision_requests: self.revision_requests - before.revision_requests,
            etcd_lists: self.etcd_lists - before.etcd_lists,
            watch_streams: self.watch_streams - before.watch_streams,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_resource_counters_are_read_from_old_and_new_labels() {
        let old = r#"
apiserver_cache_list_total{index="",resource_prefix="/example.com/widgets"} 5
apiserver_storage_list_total{resource="widgets.example.com"} 4
etcd_requests_total{operation="get",type="widgets.example.com"} 3
etcd_requests_total{operation="list",type="widgets.example.com"} 2
grpc_client_started_total{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 7
"#;
        let new = r#"
apiserver_storage_list_total{group="example.com",index="",resource="widgets",storage="watchcache"} 5
apiserver_storage_list_total{group="example.com",index="",resource="widgets",storage="etcd"} 4
etcd_requests_total{group="example.com",operation="get",resource="widgets"} 3
etcd_requests_total{group="example.com",operation="list",resource="widgets"} 1
etcd_requests_total{group="example.com",operation="listStream",resource="widgets"} 1
grpc_client_started_total{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 7
"#;
        let expected =
            ReadCounters { cache_lists: 5, storage_lists: 4, etcd_gets: 3, revision_requests: 0, etcd_lists: 2, watch_streams: 7 };
        for page in [old, new] {
            assert_eq!(ReadCounters::on_page(page, "widgets.example.com").unwrap(), expected);
        }
    }
}
