//! A trace of one request, or of one layer of it.

use std::time::Duration;

use crate::redacted::Redacted;
use crate::routing::RecordedRead;
use crate::time::Timestamp;

/// A complete block.
///
/// Up to 1.25, the handler, the watch cache and etcd's client write separate blocks with unrelated numbers; from 1.25 on, they have the
/// same audit ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTrace {
    /// When it was logged, by the header of its first line.
    pub logged: Option<Timestamp>,
    /// When the operation began.
    pub start: Option<Timestamp>,
    /// How long it took.
    pub total: Duration,
    /// The path of the request, without its query; empty in the block of a layer.
    pub url: Redacted<String>,
    /// The client's `User-Agent`, from 1.17 on; otherwise empty.
    pub user_agent: String,
    /// The client's address, from 1.17 on; otherwise empty.
    pub client: String,
    /// The `Audit-Id` of the response, from 1.22 on, and in the block of a layer from 1.25 on. Otherwise empty, also if there are two.
    pub audit_id: String,
    /// The block's own span first, then the nested ones in their order.
    pub spans: Vec<TraceSpan>,
    /// Steps and spans that were given up because there were too many.
    pub given_up: u32,
    /// Whether the line that ends the block is missing.
    pub is_cut: bool,
}

/// An operation with its steps. One that was quicker than its threshold is left out, unless the verbosity is 4 or higher.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceSpan {
    /// Its name, as in `List`, `cacher.GetList` or `List(recursive=true) etcd3`.
    pub name: String,
    /// Number of spans around it.
    pub depth: usize,
    /// How long it took; to a millisecond if it is nested.
    pub took: Duration,
    /// For etcd, the first key of the read without etcd's prefix, as in `/pods/default`; otherwise empty.
    pub key: String,
    /// For etcd, the limit of the request.
    pub limit: Option<u64>,
    /// For etcd, the resource version of the request; empty if it is unset.
    pub resource_version: String,
    /// Its own steps.
    pub steps: Vec<TraceStep>,
}

/// The end of a part of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceStep {
    /// The part that ended, as in `Listing from storage done`.
    pub message: String,
    /// How long that part took.
    pub took: Duration,
    /// Number of objects, if the step has it.
    pub count: Option<u64>,
}

/// The layers that a trace names for a list. A layer that is missing proves nothing, because quick spans are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerSpans {
    /// Whether the watch cache served a list.
    pub cache: bool,
    /// The list from etcd. Together with `cache`, the cache fell back, or it read the current revision only.
    pub etcd: Option<EtcdListSpan>,
}

/// The kind of a list from etcd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EtcdListSpan {
    /// A read of one key (`GetToList etcd3` up to 1.23, `List(recursive=false) etcd3` later). With the bare prefix as its key, it
    /// reads the current revision.
    OneKey,
    /// A read of a range of keys (`List etcd3` up to 1.23, `List(recursive=true) etcd3` later).
    Range,
}

impl RequestTrace {
    /// The name of the block's own span.
    pub fn name(&self) -> &str {
        self.spans.first().map_or("", |span| &span.name)
    }

    /// The layers that its spans name (kubernetes/apiserver `pkg/storage/cacher/cacher.go` and `pkg/storage/etcd3/store.go`, 1.16.0 to
    /// v0.36.0).
    pub fn layers(&self) -> LayerSpans {
        let cache = self.spans.iter().any(|span| matches!(span.name.as_str(), "cacher list" | "cacher.GetList"));
        LayerSpans { cache, etcd: self.spans.iter().filter_map(TraceSpan::etcd_list).max() }
    }

    /// The layer that answered, as far as the trace shows it.
    pub fn recorded_read(&self) -> Option<RecordedRead> {
        // The cache takes these steps only if it has the list. Otherwise etcd may have answered, and quick spans are left out.
        let has_listed = |step: &TraceStep| matches!(step.message.as_str(), "Listed items from cache" | "Filtered items");
        let from_cache = !self.is_cut && self.spans.iter().flat_map(|span| &span.steps).any(has_listed);
        match self.layers() {
            LayerSpans { etcd: Some(EtcdListSpan::Range), .. } => Some(RecordedRead::EtcdList),
            LayerSpans { cache: true, .. } if from_cache => Some(RecordedRead::CacheList),
            LayerSpans { .. } => None,
        }
    }

    /// Number of objects in the response, if a step of the handler has it.
    pub fn count(&self) -> Option<u64> {
        self.spans.first().and_then(|span| span.steps.iter().rev().find_map(|step| step.count))
    }
}

impl TraceSpan {
    fn etcd_list(&self) -> Option<EtcdListSpan> {
        match self.name.as_str() {
            "List etcd3" | "List(recursive=true) etcd3" => Some(EtcdListSpan::Range),
            "GetToList etcd3" | "List(recursive=false) etcd3" => Some(EtcdListSpan::OneKey),
            _other => None,
        }
    }
}
