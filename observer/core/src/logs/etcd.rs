//! etcd's log at level debug, which has one line per request.

use std::borrow::Cow;

use serde::Deserialize;

use super::audit::MAX_TEXT;
use super::go_text::unquote;
use super::text::cut;

/// Longest line of etcd that is read, in bytes. A write's line holds the size of its value, not the value.
pub(super) const MAX_ETCD_LINE: usize = 1024 * 1024;
/// The message of a line about a request that etcd has answered.
pub(super) const REQUEST_STATS: &str = "request stats";

/// One request that etcd answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EtcdRequest {
    /// A read of one key or of a range of keys.
    Range(RangeRead),
    /// Any other request, such as `/etcdserverpb.KV/Txn`.
    Other(String),
}

/// The fields of a `RangeRequest` (etcd api/etcdserverpb/rpc.proto).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeRead {
    /// The first key.
    pub key: String,
    /// The key after the last one; empty if only `key` is read.
    pub range_end: String,
    /// Maximum number of keys to return; 0 means no limit.
    pub limit: u64,
    /// The revision to read; 0 is the current one.
    pub revision: u64,
    /// Whether only the number of keys was requested.
    pub count_only: bool,
    /// Whether only the keys were requested, without values.
    pub keys_only: bool,
}

#[derive(Deserialize)]
struct Line {
    level: String,
    msg: String,
    #[serde(rename = "response type", default)]
    response_type: String,
    #[serde(rename = "request content", default)]
    content: String,
}

impl EtcdRequest {
    /// Reads a line of the log in its JSON form. `None` if it is not about a request (etcd
    /// server/etcdserver/api/v3rpc/interceptor.go, `logUnaryRequestStats`, release-3.4 to 3.6). A log at another level has only
    /// slow requests, as warnings. They cannot be used for counting, so they give `None` too.
    pub fn read(line: &[u8]) -> Option<Self> {
        if line.len() > MAX_ETCD_LINE {
            return None;
        }
        let line: Line = serde_json::from_slice(line).ok()?;
        (line.level == "debug" && line.msg == REQUEST_STATS).then(|| Self::answered(&line.response_type, &line.content))
    }

    /// The request of a line whose message is [`REQUEST_STATS`].
    pub(super) fn answered(response_type: &str, content: &str) -> Self {
        match response_type {
            "/etcdserverpb.KV/Range" => Self::Range(RangeRead::of(content)),
            other => Self::Other(cut(other, MAX_TEXT)),
        }
    }
}

impl RangeRead {
    /// Parses the text form of a protobuf message, as Go logs it: `key:"/registry/pods/" range_end:"/registry/pods0" limit:500`.
    ///
    /// The library of 3.7 puts one or two spaces between fields, so their number means nothing.
    pub(super) fn of(content: &str) -> Self {
        let mut read = Self::default();
        let mut rest = content.trim_start();
        while let Some((name, after_name)) = rest.split_once(':') {
            let (value, after) = value(after_name.trim_start());
            match name {
                "key" => read.key = cut(&value, MAX_TEXT),
                "range_end" => read.range_end = cut(&value, MAX_TEXT),
                "limit" => read.limit = value.parse().unwrap_or(0),
                "revision" => read.revision = value.parse().unwrap_or(0),
                "count_only" => read.count_only = value == "true",
                "keys_only" => read.keys_only = value == "true",
                _ => {}
            }
            rest = after.trim_start();
        }
        read
    }

    /// Whether it is a page of the list by which a watch cache starts. No client asks for such pages (kubernetes/apiserver
    /// `pkg/storage/cacher/cacher.go`, `storageWatchListPageSize`, v0.16 to v0.36).
    pub const fn is_of_watch_cache(&self) -> bool {
        self.limit == 10_000
    }

    /// Whether values are read, rather than only keys or their number.
    pub fn reads_values(&self) -> bool {
        !self.count_only && !self.keys_only
    }
}

/// A quoted text without its escapes, or a word; and the rest of `text`. A start key after a name ends in NUL, `\000`.
fn value(text: &str) -> (Cow<'_, str>, &str) {
    if let Some(quoted) = unquote(text) {
        return (quoted.text, quoted.rest);
    }
    text.split_once(' ').map_or((Cow::Borrowed(text), ""), |(word, after)| (Cow::Borrowed(word), after))
}
