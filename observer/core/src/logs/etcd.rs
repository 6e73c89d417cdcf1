//! etcd's log at level debug, where each request is a line.

use serde::Deserialize;

/// Longest line that is read, in bytes. A write's line holds the size of its value, not the value.
const MAX_LINE: usize = 1024 * 1024;

/// One request that etcd answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EtcdRequest {
    /// Keys were read.
    Range(RangeRead),
    /// Anything else, such as `/etcdserverpb.KV/Txn`.
    Other(String),
}

/// The words of a `RangeRequest` (etcd api/etcdserverpb/rpc.proto).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeRead {
    /// The first key.
    pub key: String,
    /// The key behind the last; empty when only `key` is read.
    pub range_end: String,
    /// Most keys that were wanted; 0 is all.
    pub limit: u64,
    /// The revision that was read; 0 is the current one.
    pub revision: u64,
    /// Only the number of keys was wanted.
    pub count_only: bool,
    /// Values were not wanted.
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
    /// Reads a line of the log in its JSON form; `None` for what is not about a request (etcd server/etcdserver/api/v3rpc/interceptor.go,
    /// `logUnaryRequestStats`, release-3.4 to 3.6). A log that is not at level debug tells of slow requests only, as warnings: nothing can
    /// be counted by it, so they are `None` too.
    pub fn read(line: &[u8]) -> Option<Self> {
        if line.len() > MAX_LINE {
            return None;
        }
        let line: Line = serde_json::from_slice(line).ok()?;
        if line.level != "debug" || line.msg != "request stats" {
            return None;
        }
        if line.response_type != "/etcdserverpb.KV/Range" {
            return Some(Self::Other(line.response_type));
        }
        Some(Self::Range(RangeRead::of(&line.content)))
    }
}

impl RangeRead {
    /// The text form of a protobuf message, as Go writes it for people: `key:"/registry/pods/" range_end:"/registry/pods0" limit:500`.
    fn of(content: &str) -> Self {
        let mut read = Self::default();
        let mut rest = content.trim_start();
        while let Some((name, behind)) = rest.split_once(':') {
            let (value, after) = value(behind.trim_start());
            match name {
                "key" => read.key = value,
                "range_end" => read.range_end = value,
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

    /// Whether objects are read, not only counted.
    pub fn reads_values(&self) -> bool {
        !self.count_only && !self.keys_only
    }
}

/// A quoted text with its escapes undone, or a word; and what follows it.
fn value(text: &str) -> (String, &str) {
    let Some(inside) = text.strip_prefix('"') else {
        return text.split_once(' ').map_or((text.to_owned(), ""), |(word, after)| (word.to_owned(), after));
    };
    let mut value = String::new();
    let mut characters = inside.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, inside.get(at + 1..).unwrap_or_default()),
            // A key that goes on behind a name ends in NUL, `\000`.
            '\\' => match characters.next() {
                Some((_, digit @ '0'..='7')) => {
                    let more: String = characters.by_ref().take(2).map(|(_, digit)| digit).collect();
                    let code = u32::from_str_radix(&format!("{digit}{more}"), 8).ok().and_then(char::from_u32);
                    value.extend(code);
                }
                Some((_, escaped)) => value.push(escaped),
                None => break,
            },
            other => value.push(other),
        }
    }
    (value, "")
}
