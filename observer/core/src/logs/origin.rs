//! The programs and versions that write each form of a line, and the source file upstream.

use super::cache_lines::{CacheEvent, CachedResource};
use super::etcd_line::EtcdEvent;
use super::line::LogLine;
use super::request_log::{RequestLog, RequestOutcome};
use super::trace::RequestTrace;

/// The origin of a line, as far as its form shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineOrigin {
    /// The program, its versions and the verbosity that it needs, as in `kube-apiserver 1.22 or later, -v=3`.
    pub written_by: &'static str,
    /// The repository and the source file.
    pub upstream: &'static str,
}

impl LineOrigin {
    /// The origin of a line. `text` is the line without its envelopes, which shows the form that the record does not keep.
    pub fn of(line: &LogLine, text: &str) -> Self {
        let is_json = text.starts_with('{');
        let (written_by, upstream) = match line {
            LogLine::Audit(event) if event.total_latency.is_some() => {
                ("kube-apiserver 1.24 or later, audit log", "kubernetes/apiserver pkg/apis/audit/v1/types.go")
            }
            LogLine::Audit(_) => {
                ("kube-apiserver 1.12 or later, audit log in JSON", "kubernetes/apiserver pkg/apis/audit/v1/types.go")
            }
            LogLine::AuditList(_) => {
                ("kube-apiserver 1.12 or later, audit webhook", "kubernetes/apiserver plugin/pkg/audit/webhook/webhook.go")
            }
            LogLine::LegacyAudit(_) => {
                ("kube-apiserver with --audit-log-format=legacy", "kubernetes/apiserver pkg/audit/format.go")
            }
            LogLine::GkeAudit(_) => ("Google Cloud, audit log of GKE", "falcosecurity/plugins plugins/k8saudit-gke"),
            LogLine::Request(request) => (of_request(request, text, is_json), "kubernetes/apiserver pkg/server/httplog/httplog.go"),
            LogLine::WatchStarted(watch) => {
                let written_by = match watch.audit_id.is_empty() {
                    false => "kube-apiserver 1.36 or later, -v=3",
                    true if text.contains("Starting watch for ") => "kube-apiserver 1.18 or earlier, -v=3",
                    true => "kube-apiserver 1.19 to 1.35, -v=3",
                };
                (written_by, "kubernetes/apiserver pkg/endpoints/handlers/get.go")
            }
            LogLine::Cache(line) => of_cache(&line.event, line.resource.as_ref()),
            LogLine::Trace { .. } => {
                ("kube-apiserver or client-go", "kubernetes/utils trace/trace.go, kubernetes/component-base tracing")
            }
            LogLine::Reflector(_) => (of_reflector(text, is_json), "kubernetes/client-go tools/cache/reflector.go"),
            LogLine::Client(_) => (of_client(text, is_json), "kubernetes/client-go transport/round_trippers.go"),
            LogLine::Etcd(line) => of_etcd(&line.event, is_json),
            LogLine::Cut => ("EKS, an event that is too long for CloudWatch", "falcosecurity/plugins plugins/k8saudit-eks"),
            LogLine::Other { .. } => ("a program of Kubernetes", "kubernetes/klog"),
        };
        Self { written_by, upstream }
    }

    /// The origin of a complete trace.
    pub fn of_trace(trace: &RequestTrace) -> Self {
        if trace.name().starts_with("Reflector ") {
            // From 10 s on.
            return Self { written_by: "a client with client-go", upstream: "kubernetes/client-go tools/cache/reflector.go" };
        }
        let (written_by, upstream) = match (trace.audit_id.is_empty(), trace.user_agent.is_empty()) {
            (false, _) => ("kube-apiserver 1.25 or later", "kubernetes/component-base tracing/tracing.go"),
            (true, false) => ("kube-apiserver 1.17 or later", "kubernetes/utils trace/trace.go"),
            (true, true) => ("kube-apiserver", "kubernetes/utils trace/trace.go"),
        };
        Self { written_by, upstream }
    }
}

/// The versions by the fields that they added.
fn of_request(request: &RequestLog, text: &str, is_json: bool) -> &'static str {
    let is_text = !is_json && !text.contains("\"HTTP\"");
    match request {
        RequestLog { outcome: RequestOutcome::UnknownLife, audit_id, .. } if !audit_id.is_empty() => {
            "kube-apiserver 1.30.0 to 1.30.3, -v=3"
        }
        RequestLog { watch_list_init: Some(_), .. } => "kube-apiserver 1.36 or later, -v=3",
        RequestLog { seats: Some(_), .. } => "kube-apiserver 1.24 or later, -v=3",
        RequestLog { priority_level, .. } if !priority_level.is_empty() => "kube-apiserver 1.23, -v=3",
        RequestLog { audit_id, .. } if !audit_id.is_empty() => "kube-apiserver 1.22 or later, -v=3",
        _ if is_text && text.contains("verb=") => "kube-apiserver 1.18, -v=3",
        _ if is_text => "kube-apiserver 1.16 or 1.17, -v=3",
        _ => "kube-apiserver 1.19 to 1.21, -v=3",
    }
}

fn of_cache(event: &CacheEvent, resource: Option<&CachedResource>) -> (&'static str, &'static str) {
    const CACHER: &str = "kubernetes/apiserver pkg/storage/cacher/cacher.go";
    const WATCHER: &str = "kubernetes/apiserver pkg/storage/cacher/cache_watcher.go";
    let by_type = matches!(resource, Some(CachedResource::GoType(_)));
    match event {
        CacheEvent::Restarted | CacheEvent::SourceFailed(_) if by_type => ("kube-apiserver 1.25 or earlier", CACHER),
        CacheEvent::Restarted | CacheEvent::SourceFailed(_) => ("kube-apiserver", CACHER),
        CacheEvent::Initialized => ("kube-apiserver 1.34 or later, -v=1", CACHER),
        CacheEvent::WatchUnresponsive { graceful: Some(_), .. } => ("kube-apiserver 1.27 or later, -v=1", WATCHER),
        CacheEvent::WatchUnresponsive { watch: Some(_), .. } => ("kube-apiserver 1.22 to 1.26, -v=1", WATCHER),
        CacheEvent::WatchUnresponsive { .. } => ("kube-apiserver 1.21 or earlier, -v=1", CACHER),
        CacheEvent::InitialEvents { watch: Some(_), .. } => ("kube-apiserver 1.22 or later, -v=2", WATCHER),
        CacheEvent::InitialEvents { .. } => ("kube-apiserver 1.21 or earlier, -v=2", CACHER),
        CacheEvent::EtcdWatchFailed(_) => ("kube-apiserver", "kubernetes/apiserver pkg/storage/etcd3/watcher.go"),
        CacheEvent::Inconsistent { .. } => ("kube-apiserver 1.34 or later", "kubernetes/apiserver pkg/storage/cacher/delegator.go"),
    }
}

fn of_reflector(text: &str, is_json: bool) -> &'static str {
    if text.contains("Unhandled Error") {
        "a client with client-go 0.31 or 0.32"
    } else if is_json || text.contains("] \"") {
        "a client with client-go 0.33 or later"
    } else {
        "a client with client-go 0.32 or earlier"
    }
}

fn of_client(text: &str, is_json: bool) -> &'static str {
    if is_json || text.contains("] \"") {
        "a client with client-go 0.33 or later, -v=6"
    } else {
        "a client with client-go 0.32 or earlier, -v=6"
    }
}

fn of_etcd(event: &EtcdEvent, is_json: bool) -> (&'static str, &'static str) {
    const DEFRAGMENTATION: &str = "etcd-io/etcd server/storage/backend/backend.go";
    match event {
        _ if !is_json => ("etcd 3.4, in its text form", "etcd-io/etcd etcdserver/util.go"),
        EtcdEvent::SlowApply { .. } => ("etcd 3.4 or later", "etcd-io/etcd server/etcdserver/txn/util.go"),
        EtcdEvent::Answered { .. } => ("etcd 3.5 or later", "etcd-io/etcd server/etcdserver/api/v3rpc/interceptor.go"),
        EtcdEvent::RangeTrace { .. } => ("etcd 3.4 or later", "etcd-io/etcd pkg/traceutil/trace.go"),
        EtcdEvent::CompactionStarted { .. } => ("etcd 3.4 or later", "etcd-io/etcd server/storage/mvcc/index.go"),
        EtcdEvent::Compacted { .. } => ("etcd 3.4 or later", "etcd-io/etcd server/storage/mvcc/kvstore_compaction.go"),
        EtcdEvent::DefragmentationStarted | EtcdEvent::Defragmented { .. } | EtcdEvent::DefragmentationFailed => {
            ("etcd 3.4 or later", DEFRAGMENTATION)
        }
    }
}
