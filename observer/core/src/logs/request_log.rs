//! The request log of kube-apiserver, from verbosity 3 on.

use std::time::Duration;

use super::audit::{MAX_ID, MAX_TEXT, MAX_URI};
use super::go_duration::go_duration;
use super::klog::{Fields, KlogRecord, LogClock, fields};
use super::text::cut;
use crate::k8s::ListOptions;
use crate::redacted::Redacted;
use crate::time::Timestamp;

/// A server of 1.30.0 to 1.30.3 logs a watch once it is prepared, usually within this time of its receipt (kubernetes/apiserver
/// `pkg/server/filters/routine.go`, v0.30.0). A line without a status after a longer time usually means that the client has left.
const OPENS_WITHIN: Duration = Duration::from_secs(1);

/// A request that kube-apiserver has answered (kubernetes/apiserver `pkg/server/httplog/httplog.go`, 1.16.0 to v0.36.0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLog {
    /// When the line was written: after the response. The exception is [`RequestOutcome::UnknownLife`].
    pub logged: Option<Timestamp>,
    /// `LIST`, `WATCH`, `GET` and so on, from 1.22 on. Before, and for some watches of one name, it is the method.
    pub verb: String,
    /// Path and query as the client sent them, which may hold a secret.
    pub uri: Redacted<String>,
    /// Time since the server received the request.
    pub latency: Option<Duration>,
    /// How the request ended.
    pub outcome: RequestOutcome,
    /// The client's `User-Agent`; up to 1.17, it is missing if the server logged a stack.
    pub user_agent: String,
    /// The address of the connection, without its port. A proxy before the server hides the client.
    pub address: String,
    /// The `Audit-Id` of the response, cut at 64 characters; empty before 1.22.
    pub audit_id: String,
    /// The priority level of API Priority and Fairness (APF), from 1.23 on; empty without APF.
    pub priority_level: String,
    /// The flow schema that chose the priority level, from 1.23 on; empty without APF.
    pub flow_schema: String,
    /// Seats that the request occupied at first, from 1.24 on.
    pub seats: Option<u64>,
    /// Time in which APF let the request execute, from 1.24 on.
    pub execution: Option<Duration>,
    /// Time until the initial events of a streaming list were sent, from 1.36 on.
    pub watch_list_init: Option<Duration>,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// With this HTTP status.
    Answered(u16),
    /// The connection was taken over, for example by `exec`.
    Hijacked,
    /// A watch without a status, whose end is unknown. Servers of 1.30.0 to 1.30.3 log a watch when it opens (kubernetes/kubernetes
    /// issue 125614), so its latency is not its life.
    UnknownLife,
    /// No status was written, or the line does not have it.
    NotWritten,
}

impl RequestLog {
    /// Reads a record. `None` if it is not of the request log.
    pub(super) fn read(record: &KlogRecord<'_>, clock: &LogClock) -> Option<Self> {
        let logged = record.at(clock);
        if record.message == "HTTP" && record.fields.get("URI").is_some() {
            return Self::of_fields(logged, &record.fields, "");
        }
        if !matches!(&*record.file, "httplog.go" | "wrap.go") {
            return None;
        }
        if record.message.starts_with("verb=") {
            let (fields, rest) = fields(&record.message);
            return Self::of_fields(logged, &fields, rest);
        }
        Self::of_text(logged, &record.message)
    }

    /// When the server received the request.
    pub fn received(&self) -> Option<Timestamp> {
        let nanos = u64::try_from(self.latency?.as_nanos()).ok()?;
        self.logged?.as_nanos().checked_sub(nanos).map(Timestamp::from_nanos)
    }

    /// Reads `METHOD URI: (latency) status [agent address]` (1.16 and 1.17). With a stack, the line ends after the status.
    fn of_text(logged: Option<Timestamp>, message: &str) -> Option<Self> {
        let (method, rest) = message.split_once(' ')?;
        let (uri, rest) = rest.split_once(": (")?;
        let (latency, rest) = rest.split_once(") ")?;
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        if !is_method || !uri.starts_with('/') {
            return None;
        }
        let end = rest.find([' ', '\n']).unwrap_or(rest.len());
        let (status, rest) = rest.split_at(end);
        // After a stack or an error, the client stands at the end of the last line. The address of IPv6 is in brackets, too.
        let last = rest.rsplit('\n').next().unwrap_or_default();
        let client = last.trim_ascii_end().strip_suffix(']').and_then(|last| last.split_once(" ["));
        let (user_agent, address) = client.and_then(|(_, client)| client.rsplit_once(' ')).unwrap_or_default();
        let outcome =
            if status == "hijacked" { RequestOutcome::Hijacked } else { outcome(status, method, uri, go_duration(latency)) };
        Some(Self {
            outcome,
            latency: go_duration(latency),
            user_agent: cut(user_agent, MAX_TEXT),
            address: without_port(address),
            ..Self::of(logged, method, uri)
        })
    }

    /// Reads the fields of 1.18 and later. In 1.18, `rest` is the text after the fields.
    fn of_fields(logged: Option<Timestamp>, fields: &Fields<'_>, rest: &str) -> Option<Self> {
        let (verb, uri) = (fields.get("verb")?, fields.get("URI")?);
        let is_hijacked = fields.get("hijacked") == Some("true") || rest.ends_with(": hijacked");
        let duration = |key| fields.get(key).and_then(go_duration);
        Some(Self {
            outcome: if is_hijacked {
                RequestOutcome::Hijacked
            } else {
                outcome(fields.text("resp"), verb, uri, duration("latency"))
            },
            latency: duration("latency"),
            user_agent: cut(fields.get("userAgent").unwrap_or_else(|| fields.text("UserAgent")), MAX_TEXT),
            address: without_port(fields.text("srcIP")),
            audit_id: cut(fields.text("audit-ID"), MAX_ID),
            priority_level: cut(fields.text("apf_pl"), MAX_TEXT),
            flow_schema: cut(fields.text("apf_fs"), MAX_TEXT),
            seats: fields.get("apf_iseats").and_then(|seats| seats.parse().ok()),
            execution: duration("apf_execution_time"),
            watch_list_init: duration("watchlist_init_latency"),
            ..Self::of(logged, verb, uri)
        })
    }

    fn of(logged: Option<Timestamp>, verb: &str, uri: &str) -> Self {
        Self {
            logged,
            verb: cut(verb, MAX_TEXT),
            uri: Redacted(cut(uri, MAX_URI)),
            latency: None,
            outcome: RequestOutcome::NotWritten,
            user_agent: String::new(),
            address: String::new(),
            audit_id: String::new(),
            priority_level: String::new(),
            flow_schema: String::new(),
            seats: None,
            execution: None,
            watch_list_init: None,
        }
    }
}

/// A watch that is logged as it opens has the time until then.
fn outcome(status: &str, verb: &str, uri: &str, latency: Option<Duration>) -> RequestOutcome {
    match status.parse().unwrap_or(0) {
        0 if is_watch(verb, uri) && latency.is_none_or(|latency| latency < OPENS_WITHIN) => RequestOutcome::UnknownLife,
        0 => RequestOutcome::NotWritten,
        status => RequestOutcome::Answered(status),
    }
}

/// Before 1.22, and for some watches of one name, only the query shows that a request is a watch.
fn is_watch(verb: &str, uri: &str) -> bool {
    let query = uri.split_once('?').map_or("", |(_, query)| query);
    verb == "WATCH" || verb == "GET" && ListOptions::parse(query).watch
}

/// `10.0.0.1:443` and `[::1]:443` without the port and the brackets.
fn without_port(address: &str) -> String {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    cut(host.trim_start_matches('[').trim_end_matches(']'), MAX_TEXT)
}
