//! The programs and versions that write each form of a line, the source file upstream, and the parts of a time that the form
//! lacks.

use super::cache_lines::{CacheEvent, CachedResource};
use super::etcd_line::EtcdEvent;
use super::gke::GkeEntry;
use super::klog::{KlogRecord, Stamp, read_json};
use super::line::LogLine;
use super::request_log::{RequestLog, RequestOutcome};
use super::trace::{LayerSpans, RequestTrace};

/// The origin of a line, as far as its form shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineOrigin {
    /// The program, its versions and the verbosity that it needs, as in `kube-apiserver 1.22 or later, -v=3`.
    pub written_by: &'static str,
    /// The repository and the source file.
    pub upstream: &'static str,
    /// The parts of its time that the line does not state, as in `year and zone`; empty if it states all.
    pub assumed: &'static str,
}

/// The header of klog's text form has neither.
const YEAR_AND_ZONE: &str = "year and zone";
const ZONE: &str = "zone";

impl LineOrigin {
    /// The origin of a line. `text` is the line without its envelopes, which shows the form that the record does not keep.
    pub fn of(line: &LogLine, text: &str) -> Self {
        let is_json = text.starts_with('{');
        with_record(line, text, |record| {
            let (written_by, upstream) = written_by(line, is_json, record);
            Self { written_by, upstream, assumed: assumed(line, is_json, record) }
        })
    }

    /// The origin of a complete trace whose first line has the header of klog's text form, or none.
    pub fn of_trace(trace: &RequestTrace) -> Self {
        // Without a header, the time of a trace is that of its start, which has a year.
        let assumed = if trace.logged.is_some() { YEAR_AND_ZONE } else { ZONE };
        if trace.name().starts_with("Reflector ") {
            // From 10 s on.
            let upstream = "kubernetes/client-go tools/cache/reflector.go";
            return Self { written_by: "a client with client-go", upstream, assumed };
        }
        let names_layers = trace.layers() != LayerSpans::default();
        let (written_by, upstream) = match (trace.audit_id.is_empty(), trace.user_agent.is_empty()) {
            (false, _) if names_layers => ("kube-apiserver 1.25 or later", "kubernetes/component-base tracing/tracing.go"),
            // The blocks of handlers had it before those of layers.
            (false, _) => {
                ("kube-apiserver 1.22 or later", "kubernetes/utils trace/trace.go, kubernetes/component-base tracing/tracing.go")
            }
            (true, false) => ("kube-apiserver 1.17 or later", "kubernetes/utils trace/trace.go"),
            (true, true) => ("kube-apiserver", "kubernetes/utils trace/trace.go"),
        };
        Self { written_by, upstream, assumed }
    }
}

/// Reads a record of klog again, because [`LogLine`] does not keep its form: text, JSON, or an entry of GKE.
fn with_record<T>(line: &LogLine, text: &str, of: impl FnOnce(Option<&KlogRecord<'_>>) -> T) -> T {
    if !line.is_klog() {
        return of(None);
    }
    if !text.starts_with('{') {
        return of(KlogRecord::read(text).as_ref());
    }
    match GkeEntry::read(text) {
        Some(GkeEntry::Component(entry)) => of(Some(&entry.record())),
        Some(GkeEntry::Audit(_)) | None => of(read_json(text).as_ref()),
    }
}

/// The parts of its time that a line does not state.
fn assumed(line: &LogLine, is_json: bool, record: Option<&KlogRecord<'_>>) -> &'static str {
    match record.and_then(|record| record.stamp) {
        Some(Stamp::Yearless { .. }) => YEAR_AND_ZONE,
        // A line within a trace has no header. Its trace has that of the first line.
        None if line.is_klog() => YEAR_AND_ZONE,
        None if matches!(line, LogLine::Etcd(_)) && !is_json => ZONE,
        Some(Stamp::Complete(_)) | None => "",
    }
}

fn written_by(line: &LogLine, is_json: bool, record: Option<&KlogRecord<'_>>) -> (&'static str, &'static str) {
    let is_plain = record.is_some_and(|record| record.fields.is_empty());
    match line {
        LogLine::Audit(event) if event.total_latency.is_some() => {
            ("kube-apiserver 1.24 or later, audit log", "kubernetes/apiserver pkg/apis/audit/v1/types.go")
        }
        LogLine::Audit(_) => ("kube-apiserver 1.12 or later, audit log in JSON", "kubernetes/apiserver pkg/apis/audit/v1/types.go"),
        LogLine::AuditList(_) => {
            ("kube-apiserver 1.12 or later, audit webhook", "kubernetes/apiserver plugin/pkg/audit/webhook/webhook.go")
        }
        LogLine::LegacyAudit(_) => ("kube-apiserver with --audit-log-format=legacy", "kubernetes/apiserver pkg/audit/format.go"),
        LogLine::GkeAudit(_) => ("Google Cloud, audit log of GKE", "falcosecurity/plugins plugins/k8saudit-gke"),
        LogLine::Request(request) => (of_request(request, record), "kubernetes/apiserver pkg/server/httplog/httplog.go"),
        LogLine::WatchStarted(watch) => {
            let written_by = match watch.audit_id.is_empty() {
                false => "kube-apiserver 1.36 or later, -v=3",
                true if is_plain => "kube-apiserver 1.18 or earlier, -v=3",
                true => "kube-apiserver 1.19 to 1.35, -v=3",
            };
            (written_by, "kubernetes/apiserver pkg/endpoints/handlers/get.go")
        }
        LogLine::Cache(line) => of_cache(&line.event, line.resource.as_ref()),
        LogLine::Trace { .. } => {
            ("kube-apiserver or client-go", "kubernetes/utils trace/trace.go, kubernetes/component-base tracing")
        }
        LogLine::Reflector(_) => (of_reflector(record), "kubernetes/client-go tools/cache/reflector.go"),
        LogLine::Client(_) if is_plain => {
            ("a client with client-go 0.32 or earlier, -v=6", "kubernetes/client-go transport/round_trippers.go")
        }
        LogLine::Client(_) => ("a client with client-go 0.33 or later, -v=6", "kubernetes/client-go transport/round_trippers.go"),
        LogLine::Etcd(line) => of_etcd(&line.event, is_json),
        LogLine::Cut => ("EKS, an event that is too long for CloudWatch", "falcosecurity/plugins plugins/k8saudit-eks"),
        LogLine::Other { .. } => ("a program of Kubernetes", "kubernetes/klog"),
    }
}

/// The versions by the fields that they added.
fn of_request(request: &RequestLog, record: Option<&KlogRecord<'_>>) -> &'static str {
    let plain = record.filter(|record| record.fields.is_empty());
    match request {
        RequestLog { outcome: RequestOutcome::UnknownLife, audit_id, .. } if !audit_id.is_empty() => {
            "kube-apiserver 1.30.0 to 1.30.3, -v=3"
        }
        RequestLog { watch_list_init: Some(_), .. } => "kube-apiserver 1.36 or later, -v=3",
        RequestLog { seats: Some(_), .. } => "kube-apiserver 1.24 or later, -v=3",
        RequestLog { priority_level, .. } if !priority_level.is_empty() => "kube-apiserver 1.23, -v=3",
        RequestLog { audit_id, .. } if !audit_id.is_empty() => "kube-apiserver 1.22 or later, -v=3",
        _ if plain.is_some_and(|record| record.message.starts_with("verb=")) => "kube-apiserver 1.18, -v=3",
        _ if plain.is_some() => "kube-apiserver 1.16 or 1.17, -v=3",
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

/// The versions by whether the message has fields, which JSON shows, too.
fn of_reflector(record: Option<&KlogRecord<'_>>) -> &'static str {
    match record {
        Some(record) if record.message == "Unhandled Error" => "a client with client-go 0.31 or 0.32",
        Some(record) if record.fields.is_empty() => "a client with client-go 0.32 or earlier",
        Some(_) | None => "a client with client-go 0.33 or later",
    }
}

fn of_etcd(event: &EtcdEvent, is_json: bool) -> (&'static str, &'static str) {
    if !is_json {
        return ("etcd 3.4 or earlier, in its text form", of_etcd_text(event));
    }
    match event {
        EtcdEvent::SlowApply { .. } => ("etcd 3.4 or later", "etcd-io/etcd server/etcdserver/txn/util.go"),
        // 3.4 has no warning about slow requests.
        EtcdEvent::Answered { .. } => {
            ("etcd 3.5 or later; 3.4 with --log-level=debug", "etcd-io/etcd server/etcdserver/api/v3rpc/interceptor.go")
        }
        EtcdEvent::RangeTrace { .. } => ("etcd 3.4 or later", "etcd-io/etcd pkg/traceutil/trace.go"),
        EtcdEvent::CompactionStarted { .. } => ("etcd 3.4 or later", "etcd-io/etcd server/storage/mvcc/index.go"),
        EtcdEvent::Compacted { .. } => ("etcd 3.4 or later", "etcd-io/etcd server/storage/mvcc/kvstore_compaction.go"),
        EtcdEvent::DefragmentationStarted | EtcdEvent::Defragmented { .. } => {
            ("etcd 3.4 or later", "etcd-io/etcd server/storage/backend/backend.go")
        }
        EtcdEvent::DefragmentationFailed => ("etcd 3.4 or later", "etcd-io/etcd server/etcdserver/api/v3rpc/maintenance.go"),
        EtcdEvent::Other => ("etcd 3.4 or later, or a program with its client", "etcd-io/etcd client/pkg/logutil/zap.go"),
    }
}

/// The source file in v3.4.0.
const fn of_etcd_text(event: &EtcdEvent) -> &'static str {
    match event {
        EtcdEvent::SlowApply { .. } => "etcd-io/etcd etcdserver/util.go",
        EtcdEvent::CompactionStarted { .. } => "etcd-io/etcd mvcc/index.go",
        EtcdEvent::Compacted { .. } => "etcd-io/etcd mvcc/kvstore_compaction.go",
        EtcdEvent::DefragmentationStarted | EtcdEvent::Defragmented { .. } | EtcdEvent::DefragmentationFailed => {
            "etcd-io/etcd etcdserver/api/v3rpc/maintenance.go"
        }
        // The first two have no text form that is read.
        EtcdEvent::Answered { .. } | EtcdEvent::RangeTrace { .. } | EtcdEvent::Other => "coreos/pkg capnslog/formatters.go",
    }
}
