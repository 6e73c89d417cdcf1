//! The content of a line, in words.

use observer_core::logs::{LogLine, LogRecord, LoggedError, LoggedErrorKind, LoggedRequest};
use observer_core::routing::{RecordedRead, ServerVersion};
use observer_core::time::Timestamp;
use serde::Serialize;

use super::{etcd_line, reflector_line, requests, server_line};

/// The content of a line.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// When it was written.
    pub(super) at: Option<Timestamp>,
    /// The event that it reports, in one sentence.
    pub(super) meaning: String,
    pub(super) facts: Vec<Fact>,
    /// An error of certain versions that makes the line misleading.
    pub(super) trap: Option<&'static str>,
    /// The request that it is about.
    pub(super) request: Option<LoggedRequest>,
    /// The layers that it shows on its own.
    pub(super) shows: Option<RecordedRead>,
    /// Facts that no line of this form has.
    pub(super) not_shown: &'static [&'static str],
}

/// A fact with its name.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: String,
}

impl Content {
    /// The content of a record. `None` for a line of klog about other things. `version` is that of the API server.
    pub(super) fn of(record: &LogRecord, version: Option<&ServerVersion>) -> Option<Self> {
        let line = match record {
            LogRecord::Line(line) => line,
            LogRecord::Trace(trace) => return Some(server_line::of_trace(trace)),
        };
        Some(match line {
            LogLine::Audit(event) | LogLine::LegacyAudit(event) => requests::of_event(event, version),
            LogLine::GkeAudit(entry) => requests::of_gke(entry),
            LogLine::Request(request) => requests::of_request_log(request),
            LogLine::WatchStarted(watch) => requests::of_watch(watch),
            LogLine::Client(request) => requests::of_client(request),
            LogLine::Cache(line) => server_line::of_cache(line),
            LogLine::Trace { at, .. } => server_line::of_torn_trace(*at),
            LogLine::Reflector(line) => reflector_line::of_reflector(line),
            LogLine::Etcd(line) => etcd_line::of_etcd(line),
            LogLine::Cut => Self {
                meaning: "the beginning of an audit event that is too long for CloudWatch, usually one with bodies".to_owned(),
                not_shown: &["the request: a policy with the level Metadata keeps its events short"],
                ..Self::default()
            },
            // The events of a list come one by one.
            LogLine::AuditList(_) | LogLine::Other { .. } => return None,
        })
    }

    /// Adds a fact, unless its value is empty.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        if !value.is_empty() {
            self.facts.push(Fact { name, value });
        }
        self
    }

    /// Adds a fact, if it is known.
    pub(super) fn with_some(self, name: &'static str, value: Option<String>) -> Self {
        self.with(name, value.unwrap_or_default())
    }
}

/// The kind of an error, with its numbers. Its text may hold a URL with a secret, so it is not repeated.
pub(super) fn kind_of(error: &LoggedError) -> String {
    let number = |number: Option<u64>| number.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
    match error.kind {
        LoggedErrorKind::Expired { requested: None, .. } => "410: the resource version is too old".to_owned(),
        LoggedErrorKind::Expired { requested, oldest } => {
            format!("410: resource version {} is too old; the oldest is {}", number(requested), number(oldest))
        }
        LoggedErrorKind::TooLarge { requested, current } => {
            format!("resource version {} is too large; the server is at {}", number(requested), number(current))
        }
        LoggedErrorKind::ConnectionRefused => "connection refused".to_owned(),
        LoggedErrorKind::TooManyRequests => "429".to_owned(),
        LoggedErrorKind::VeryShortWatch => "very short watch".to_owned(),
        LoggedErrorKind::Other => "other; its text may hold a secret, and is not repeated".to_owned(),
    }
}
