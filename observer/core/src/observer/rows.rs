//! Rows of the tables of requests.

use serde::Serialize;

use super::record::VerdictRecord;
use crate::exchange::Shape;
use crate::k8s::Verb;
use crate::quantity::Amount;

/// Finished lists of one shape that were answered by one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListRow {
    /// Resource, objects and options of the lists.
    #[serde(flatten)]
    pub shape: Shape,
    /// The layer that answered; `etcd_reads` are those of the first list.
    pub verdict: Option<VerdictRecord>,
    /// Whether other lists read other keys or revisions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub etcd_reads_vary: bool,
    /// Number of lists.
    pub count: u64,
    /// Lists that were answered with 4xx or 5xx.
    pub failed: u64,
    /// Items of all these lists.
    pub items: Amount,
    /// Answers that were not understood; if there are any, `items` is a lower bound.
    pub unread: u64,
    /// Bytes that were not seen; if there are any, `items` is a lower bound.
    pub missed_bytes: u64,
    /// Bytes of all response bodies.
    pub bytes: Amount,
    /// Lists with a limit that returned many times more objects than the limit in one response.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub ignored_limit: u64,
    /// Consistent reads that took as long as the API server waits for its watch cache before it reads etcd.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub waited_for_cache: u64,
    /// Median time to the head of the response, in microseconds (two significant digits); `None` if no response came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_us: Option<u64>,
    /// Median time to the end, in microseconds (two significant digits).
    pub total_us: u64,
}

/// Watches of one shape that were answered by one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatchRow {
    /// Resource, objects and options of the watches.
    #[serde(flatten)]
    pub shape: Shape,
    /// The layer that answered; `etcd_reads` are those of the first watch.
    pub verdict: Option<VerdictRecord>,
    /// Whether other watches read other keys or revisions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub etcd_reads_vary: bool,
    /// Number of watches, open ones included.
    pub count: u64,
    /// Number of open watches.
    pub open: u64,
    /// Watches that were refused, or ended with an `ERROR` event.
    pub failed: u64,
    /// Events about objects, without bookmarks.
    pub events: Amount,
    /// Answers that were not understood; if there are any, `events` is a lower bound.
    pub unread: u64,
    /// Bytes that were not seen; if there are any, `events` is a lower bound.
    pub missed_bytes: u64,
    /// Bookmarks received.
    pub bookmarks: Amount,
    /// Bytes of all response bodies.
    pub bytes: Amount,
    /// Sum of the times that they were or are open, in microseconds.
    pub open_us: u64,
    /// How the last one ended; empty if none has ended.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_end: String,
}

/// Finished requests that are neither lists nor watches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherRow {
    /// The verb; `None` when method or path is unknown.
    pub verb: Option<Verb>,
    /// Resource, objects and options of the requests.
    #[serde(flatten)]
    pub shape: Shape,
    /// The layer that answered a get; `etcd_reads` are those of the first get.
    pub verdict: Option<VerdictRecord>,
    /// Whether other gets read other keys or revisions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub etcd_reads_vary: bool,
    /// Number of requests.
    pub count: u64,
    /// Requests that were answered with 4xx or 5xx.
    pub failed: u64,
    /// Bytes of all response bodies.
    pub bytes: Amount,
    /// Median time to the end, in microseconds (two significant digits).
    pub total_us: u64,
}
