//! Lines of etcd, at any level of its log. Those about requests and maintenance are read, and the others are recognised.

use std::time::Duration;

use serde::Deserialize;

use super::audit::MAX_TEXT;
use super::etcd::{EtcdRequest, MAX_ETCD_LINE, REQUEST_STATS, RangeRead};
use super::go_duration::go_duration;
use super::go_text::unquote;
use super::klog::{LogClock, local, zoned};
use super::text::{Text, cut};
use crate::time::Timestamp;

/// A line of etcd's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdLine {
    /// When it was written.
    pub at: Option<Timestamp>,
    /// The event that the line reports.
    pub event: EtcdEvent,
}

/// The events that etcd logs. Those about requests and maintenance have their facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EtcdEvent {
    /// A request took longer than etcd expects, 100 ms by default (etcd-io/etcd `etcdserver/util.go`, v3.4.0;
    /// `server/etcdserver/txn/util.go`, v3.6.0).
    SlowApply {
        /// The request; of a write or a transaction, only the kind.
        request: EtcdRequest,
        /// How long it took.
        took: Duration,
        /// Number of keys in the response, with their values.
        count: Option<u64>,
        /// Size of the response in bytes.
        size: Option<u64>,
    },
    /// A request that etcd has answered (etcd-io/etcd `server/etcdserver/api/v3rpc/interceptor.go`, release-3.4 to v3.6.0). From
    /// 3.5 on, a log that is not at level debug has those that took longer than 300 ms by default.
    Answered {
        /// When it began.
        start: Option<Timestamp>,
        /// How long it took.
        took: Duration,
        /// The address of the client, usually an API server, with its port.
        remote: String,
        /// Its keys and options if it is a read; otherwise its kind.
        request: EtcdRequest,
        /// Number of keys in the range, which may be more than the response has.
        count: Option<u64>,
        /// Size of the response in bytes.
        size: Option<u64>,
    },
    /// A trace of a read that took more than 100 ms (etcd-io/etcd `pkg/traceutil/trace.go`, v3.4.0 to v3.8.0-alpha.0).
    RangeTrace {
        /// The first key.
        key: String,
        /// The key after the last one; empty if only `key` is read.
        range_end: String,
        /// Number of keys in the response.
        count: Option<u64>,
        /// The revision of the response.
        revision: Option<u64>,
        /// How long the read took.
        took: Duration,
    },
    /// A compaction began (etcd-io/etcd `server/storage/mvcc/index.go`, v3.6.0).
    CompactionStarted {
        /// The oldest revision that stays.
        revision: u64,
    },
    /// A compaction is complete (etcd-io/etcd `server/storage/mvcc/kvstore_compaction.go`, v3.6.0).
    Compacted {
        /// The oldest revision that stays.
        revision: u64,
        /// How long it took.
        took: Option<Duration>,
    },
    /// A defragmentation began: this member answers no requests until it ends (etcd-io/etcd `server/storage/backend/backend.go`,
    /// v3.6.0).
    DefragmentationStarted,
    /// A defragmentation is complete.
    Defragmented {
        /// How long it took, from 3.5 on.
        took: Option<Duration>,
    },
    /// A defragmentation ended with an error, so the file has its old size.
    DefragmentationFailed,
    /// Any other event, such as an election. Programs with etcd's client log such lines, too.
    Other,
}

impl EtcdEvent {
    /// Whether it is about a request.
    pub const fn is_request(&self) -> bool {
        matches!(self, Self::SlowApply { .. } | Self::Answered { .. } | Self::RangeTrace { .. })
    }
}

/// The JSON form of zap.
#[derive(Deserialize)]
struct Line<'l> {
    #[serde(borrow, default)]
    level: Text<'l>,
    #[serde(borrow, default)]
    ts: Text<'l>,
    #[serde(borrow, default)]
    caller: Text<'l>,
    #[serde(borrow)]
    msg: Text<'l>,
    #[serde(borrow, default)]
    took: Text<'l>,
    #[serde(borrow, default)]
    prefix: Text<'l>,
    #[serde(borrow, default)]
    request: Text<'l>,
    #[serde(borrow, default)]
    response: Text<'l>,
    #[serde(borrow, default, rename = "start time")]
    start_time: Text<'l>,
    #[serde(borrow, default, rename = "time spent")]
    time_spent: Text<'l>,
    #[serde(borrow, default)]
    remote: Text<'l>,
    #[serde(borrow, default, rename = "response type")]
    response_type: Text<'l>,
    #[serde(default, rename = "response count")]
    response_count: Option<i64>,
    #[serde(default, rename = "response size")]
    response_size: Option<i64>,
    #[serde(borrow, default, rename = "request content")]
    request_content: Text<'l>,
    #[serde(borrow, default)]
    operation: Text<'l>,
    #[serde(borrow, default)]
    detail: Text<'l>,
    #[serde(borrow, default)]
    duration: Text<'l>,
    #[serde(default, rename = "compact-revision")]
    compact_revision: Option<i64>,
    #[serde(default)]
    revision: Option<i64>,
}

impl EtcdLine {
    /// Reads a line, in zap's JSON form or in the text form of 3.4. `None` if etcd did not write it, or if it lacks the facts of
    /// its event.
    pub(super) fn read(text: &str, clock: &LogClock) -> Option<Self> {
        if text.len() > MAX_ETCD_LINE {
            return None;
        }
        if !text.starts_with('{') {
            return Self::plain(text, clock);
        }
        match serde_json::from_str::<Line<'_>>(text) {
            Ok(line) => line.read(),
            Err(_not_json) => serde_json::from_str::<Line<'_>>(&with_backslashes(text)?).ok()?.read(),
        }
    }

    /// Reads `YYYY-MM-DD hh:mm:ss.uuuuuu L | PACKAGE: MESSAGE` (coreos/pkg `capnslog/formatters.go`, as etcd v3.4.0 uses it). With
    /// `--debug`, the place in the source stands before the level.
    fn plain(text: &str, clock: &LogClock) -> Option<Self> {
        let (date, rest) = text.split_once(' ')?;
        let (time, rest) = rest.split_once(' ')?;
        let at = local(date, time, clock)?;
        let (head, rest) = rest.split_once(" | ")?;
        let level = head.rsplit_once(' ').map_or(head, |(_place, level)| level);
        let (package, message) = rest.split_once(": ")?;
        let is_package = package.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'/');
        if !is_package || !matches!(level, "C" | "E" | "W" | "N" | "I" | "D" | "T") {
            return None;
        }
        let event = match message {
            "starting to defragment the storage backend..." => EtcdEvent::DefragmentationStarted,
            "finished defragmenting the storage backend" => EtcdEvent::Defragmented { took: None },
            _other => plain_event(message).unwrap_or(EtcdEvent::Other),
        };
        Some(Self { at: Some(at), event })
    }
}

fn plain_event(message: &str) -> Option<EtcdEvent> {
    if let Some(rest) = message.strip_prefix("finished scheduled compaction at ") {
        let (revision, took) = rest.split_once(" (took ")?;
        return Some(EtcdEvent::Compacted { revision: revision.parse().ok()?, took: go_duration(took.strip_suffix(')')?) });
    }
    if let Some(revision) = message.strip_prefix("store.index: compact ") {
        return Some(EtcdEvent::CompactionStarted { revision: revision.parse().ok()? });
    }
    if message.starts_with("failed to defragment the storage backend") {
        return Some(EtcdEvent::DefragmentationFailed);
    }
    let (prefix, rest) = message.split_once("request \"")?;
    let request = unquote(message.get(message.len() - rest.len() - 1..)?)?;
    let response = unquote(request.rest.strip_prefix(" with result ")?)?;
    let took = response.rest.strip_prefix(" took too long (")?.strip_suffix(") to execute")?;
    slow_apply(prefix, &request.text, &response.text, took)
}

impl Line<'_> {
    fn read(&self) -> Option<EtcdLine> {
        let text = |text: &Text<'_>| text.get().unwrap_or_default().to_owned();
        let duration = |text: &Text<'_>| text.get().and_then(go_duration);
        let message = self.msg.get()?;
        let (message, operation) = match message.strip_prefix("trace[") {
            // `trace[NUMBER] OPERATION`, up to 3.7.
            Some(rest) => ("trace", rest.split_once("] ").map_or("", |(_, operation)| operation)),
            None => (message, self.operation.get().unwrap_or_default()),
        };
        let event = match message {
            "apply request took too long" => {
                let [prefix, request, response, took] = [&self.prefix, &self.request, &self.response, &self.took].map(text);
                slow_apply(&prefix, &request, &response, &took)?
            }
            REQUEST_STATS => EtcdEvent::Answered {
                start: self.start_time.get().and_then(zoned),
                took: duration(&self.time_spent)?,
                remote: cut(self.remote.get().unwrap_or_default(), MAX_TEXT),
                request: EtcdRequest::answered(self.response_type.get()?, self.request_content.get().unwrap_or_default()),
                count: self.response_count.and_then(|count| count.try_into().ok()),
                size: self.response_size.and_then(|size| size.try_into().ok()),
            },
            "trace" if operation == "range" => range_trace(self.detail.get()?, duration(&self.duration)?),
            "compact tree index" => EtcdEvent::CompactionStarted { revision: self.revision?.try_into().ok()? },
            "finished scheduled compaction" => {
                EtcdEvent::Compacted { revision: self.compact_revision?.try_into().ok()?, took: duration(&self.took) }
            }
            "defragmenting" => EtcdEvent::DefragmentationStarted,
            "defragmented" | "finished defragmenting directory" => EtcdEvent::Defragmented { took: duration(&self.took) },
            "failed to defragment" => EtcdEvent::DefragmentationFailed,
            _other if self.is_of_etcd() => EtcdEvent::Other,
            _other => return None,
        };
        Some(EtcdLine { at: self.ts.get().and_then(zoned), event })
    }

    /// Whether it has the form of etcd's lines (etcd-io/etcd `client/pkg/logutil/zap.go`, v3.6.0), and a package of etcd. Other
    /// programs with zap write the same form.
    fn is_of_etcd(&self) -> bool {
        let is_level = |level: &str| matches!(level, "debug" | "info" | "warn" | "error" | "dpanic" | "panic" | "fatal");
        // `etcdserver/server.go:854`, or `v3@v3.6.0/raft.go:912` in a module of its own.
        let is_caller = |caller: &str| caller.contains(".go:") && caller.split(['/', '@']).next().is_some_and(is_package_of_etcd);
        let has_time = self.ts.get().and_then(zoned).is_some();
        has_time && self.level.get().is_some_and(is_level) && self.caller.get().is_some_and(is_caller)
    }
}

/// Whether a package of etcd, of its client (`clientv3`, `v3`) or of its Raft (`v3`) has this name, and logs (etcd-io/etcd v3.4.0
/// to release-3.7).
fn is_package_of_etcd(name: &str) -> bool {
    const PACKAGES: [&str; 46] = [
        "api",
        "apply",
        "auth",
        "backend",
        "bbolt",
        "clientv3",
        "embed",
        "etcdhttp",
        "etcdmain",
        "etcdserver",
        "etcdutl",
        "featuregate",
        "fileutil",
        "flags",
        "grpclog",
        "grpcproxy",
        "httpproxy",
        "lease",
        "membership",
        "mvcc",
        "netutil",
        "osutil",
        "proxy",
        "raft",
        "rafthttp",
        "read",
        "schedule",
        "schema",
        "snap",
        "snapshot",
        "storage",
        "traceutil",
        "txn",
        "v2auth",
        "v2discovery",
        "v2http",
        "v2stats",
        "v3",
        "v3alarm",
        "v3compactor",
        "v3discovery",
        "v3rpc",
        "verify",
        "version",
        "wal",
        "zapgrpc",
    ];
    PACKAGES.binary_search(&name).is_ok()
}

/// The prefix is `read-only range `, `read-only txn `, or empty for a write. In 3.4, a transaction has the prefix of a range.
fn slow_apply(prefix: &str, request: &str, response: &str, took: &str) -> Option<EtcdEvent> {
    let is_range = prefix.trim_ascii() == "read-only range" && request.trim_ascii_start().starts_with("key:");
    let kind = match prefix.trim_ascii() {
        "" => "write",
        "read-only range" | "read-only txn" => "read-only txn",
        other => other,
    };
    // `range_response_count:N size:N`, or `responses:<range_response_count:N range_response_count:N> size:N`.
    let number = |text: &str| -> Option<u64> { text.split([' ', '>']).next()?.parse().ok() };
    let counts = response.split("range_response_count:").skip(1).filter_map(number);
    let size = response.rsplit_once("size:").and_then(|(_, size)| number(size));
    Some(EtcdEvent::SlowApply {
        request: if is_range { EtcdRequest::Range(RangeRead::of(request)) } else { EtcdRequest::Other(cut(kind, MAX_TEXT)) },
        took: go_duration(took)?,
        count: counts.reduce(u64::saturating_add),
        size,
    })
}

/// Reads `{range_begin:A; range_end:B; response_count:N; response_revision:R; }`.
fn range_trace(detail: &str, took: Duration) -> EtcdEvent {
    let value = |name: &str| {
        let (_, value) = detail.split_once(name)?;
        value.split_once("; ").map(|(value, _)| value)
    };
    EtcdEvent::RangeTrace {
        key: cut(value("range_begin:").unwrap_or_default(), MAX_TEXT),
        range_end: cut(value("range_end:").unwrap_or_default(), MAX_TEXT),
        count: value("response_count:").and_then(|count| count.parse().ok()),
        revision: value("response_revision:").and_then(|revision| revision.parse().ok()),
        took,
    }
}

/// The line with the backslashes in its request that a copy may have lost. `None` if none are missing.
fn with_backslashes(text: &str) -> Option<String> {
    /// The fields with quotation marks in their values, each with the text after its value.
    const FIELDS: [(&str, &str); 2] = [("\"request content\":\"", "\"}"), ("\"request\":\"", "\",\"response\":\"")];
    let (at, end) = FIELDS.iter().find_map(|(field, end)| Some((text.find(field)? + field.len(), end)))?;
    let (before, value) = text.split_at_checked(at)?;
    let (value, after) = value.split_at_checked(value.rfind(end)?)?;
    let is_lost = value.contains('"') && !value.contains("\\\"");
    is_lost.then(|| format!("{before}{}{after}", value.replace('"', "\\\"")))
}
