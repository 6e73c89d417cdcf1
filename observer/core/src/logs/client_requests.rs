//! Requests in the logs of client-go programs, from verbosity 6 on. `kubectl` is one of them.

use std::time::Duration;

use super::audit::{MAX_TEXT, MAX_URI};
use super::klog::{KlogRecord, LogClock};
use super::text::cut;
use crate::redacted::Redacted;
use crate::time::Timestamp;

/// A line about a request of the program itself (kubernetes/client-go `transport/round_trippers.go`, 1.16.0 to v0.36.0).
///
/// At verbosity 7 and 8, a request has two lines: the first without a status, and the second without a method and a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRequest {
    /// When the line was written.
    pub at: Option<Timestamp>,
    /// The method; empty in a line about a response alone.
    pub method: String,
    /// Path and query without the server, which may hold a secret. Empty in a line about a response alone.
    pub uri: Redacted<String>,
    /// The HTTP status. `None` before the response, and if there was none.
    pub status: Option<u16>,
    /// Time until the head of the response, to a millisecond. `None` before the response.
    pub latency: Option<Duration>,
}

/// A record of the files that log requests.
pub(super) enum ClientRecord {
    Request(ClientRequest),
    /// Headers, a body, or a step of the connection. Its text is not read.
    Detail,
}

impl ClientRecord {
    /// Reads a record. `None` if another file wrote it.
    pub(super) fn read(record: &KlogRecord<'_>, clock: &LogClock) -> Option<Self> {
        let is_body = || record.message.starts_with("Request Body") || record.message.starts_with("Response Body");
        match &*record.file {
            "round_trippers.go" => {}
            "request.go" | "helper.go" if is_body() => return Some(Self::Detail),
            _other => return None,
        }
        let request = ClientRequest::structured(record).or_else(|| ClientRequest::plain(&record.message));
        Some(request.map_or(Self::Detail, |request| Self::Request(ClientRequest { at: record.at(clock), ..request })))
    }
}

impl ClientRequest {
    /// Reads a record of 0.33 or later.
    fn structured(record: &KlogRecord<'_>) -> Option<Self> {
        let fields = &record.fields;
        if fields.is_empty() || !matches!(&*record.message, "Request" | "Response") {
            return None;
        }
        let milliseconds = fields.get("milliseconds").and_then(|number| number.parse().ok());
        Some(Self::of(fields.text("verb"), fields.text("url"), fields.text("status"), milliseconds))
    }

    /// Reads `METHOD URL STATUS in N milliseconds`, `METHOD URL`, or `Response Status: STATUS in N milliseconds` (up to 0.32).
    fn plain(message: &str) -> Option<Self> {
        if let Some(rest) = message.strip_prefix("Response Status: ") {
            let (status, milliseconds) = status_and_time(rest)?;
            return Some(Self::of("", "", status, Some(milliseconds)));
        }
        let (method, rest) = message.split_once(' ')?;
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        if !is_method || !(rest.starts_with("https://") || rest.starts_with("http://")) {
            return None;
        }
        let Some((url, rest)) = rest.split_once(' ') else { return Some(Self::of(method, rest, "", None)) };
        let (status, milliseconds) = status_and_time(rest)?;
        Some(Self::of(method, url, status, Some(milliseconds)))
    }

    fn of(method: &str, url: &str, status: &str, milliseconds: Option<u64>) -> Self {
        let status = status.split(' ').next().and_then(|code| code.parse().ok()).filter(|code| *code != 0);
        Self {
            at: None,
            method: cut(method, MAX_TEXT),
            uri: Redacted(cut(path_and_query(url), MAX_URI)),
            status,
            latency: milliseconds.map(Duration::from_millis),
        }
    }
}

/// Reads `200 OK in 8 milliseconds`. Without a response, the status is empty.
fn status_and_time(text: &str) -> Option<(&str, u64)> {
    let (status, time) = text.rsplit_once("in ")?;
    Some((status.trim_ascii_end(), time.strip_suffix(" milliseconds")?.parse().ok()?))
}

/// A URL without scheme, user, host and port.
fn path_and_query(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else { return "" };
    rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or("/")
}
