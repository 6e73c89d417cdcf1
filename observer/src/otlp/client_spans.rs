//! Spans of requests, of the time to establish a watch, and of relists.
//!
//! A watch has no span for its life, and its events have none: a span that may never end helps no trace (open-telemetry/
//! semantic-conventions#3703, #3794). Names and attributes follow the HTTP conventions (open-telemetry/semantic-conventions
//! `docs/http/http-spans.md`, v1.40), without the query, which holds selectors.
//!
//! A request with a valid `traceparent` is in the trace of its client (W3C Trace Context, Level 2), as a child of the client's span.
//! If the client records the trace, the span is always exported, because its trace would have a hole. If it does not, the span is
//! exported only if the request failed or was slow.

use std::time::Duration;

use observer_core::exchange::Scope;
use observer_core::http::{Direction, Protocol, TraceParent};
use observer_core::k8s::Verb;
use observer_core::observation::{ConnectionId, EndManner, ExchangeEnd, ExchangeId};
use observer_core::observer::{Event, RequestRecord};
use observer_core::reflector::ListEvent;
use observer_core::routing::{Certainty, ServedFrom};
use observer_core::time::Timestamp;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::{Link, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};

use super::any_value::{int, text};
use super::latest::Latest;
use super::span_ids::{SpanId, SpanIds};
use super::url_template::method_and_template;

/// Requests that take longer are always exported.
const SLOW: Duration = Duration::from_secs(1);
/// The trace is sampled (W3C Trace Context, `trace-flags`).
const SAMPLED: u32 = TraceParent::SAMPLED as u32;
/// The parent is a span of another process (`SpanFlags` of opentelemetry-proto).
const HAS_REMOTE_PARENT: u32 = 0x300;

/// Makes spans of events.
pub(super) struct ClientSpans {
    ids: SpanIds,
    /// Closed ones included, since their requests may end later.
    connections: Latest<ConnectionId, Server>,
    /// Traces of clients that a relist may link to: those of lists and watches.
    traces: Latest<ExchangeId, u128>,
}

/// The server of a connection, and how it is spoken to.
struct Server {
    upstream: String,
    protocol: Option<Protocol>,
}

/// Attributes of a span.
#[derive(Default)]
struct Attributes(Vec<KeyValue>);

impl ClientSpans {
    /// Remembers the servers of at most `most` connections, and the traces of as many lists and watches.
    pub(super) fn remembering(most: usize) -> Self {
        Self { ids: SpanIds::default(), connections: Latest::new(most), traces: Latest::new(most) }
    }

    /// The span that ends with this event, if there is one and it is exported.
    pub(super) fn of(&mut self, event: &Event) -> Option<Span> {
        match event {
            Event::ConnectionOpened { connection, upstream, protocol, .. } => {
                self.connections.insert(*connection, Server { upstream: upstream.0.clone(), protocol: *protocol });
                None
            }
            Event::ConnectionClosed { connection, .. } => {
                self.connections.end(*connection);
                None
            }
            Event::Request { record } if record.upgraded.is_none() => self.request(record, record.total_us),
            // Its time to the head of the response; an accepted watch had its span when it was opened.
            Event::WatchOpened { record } => self.request(record, record.first_byte_us),
            Event::WatchEnded { record, .. } if has_failed(record) => self.request(record, record.total_us),
            Event::Relist { list } => Some(self.relist(list)),
            Event::Profile { .. }
            | Event::GoAway { .. }
            | Event::Request { .. }
            | Event::WatchEnded { .. }
            | Event::InitialList { .. }
            | Event::RelistBegan { .. }
            | Event::Resume { .. }
            | Event::Stuck { .. }
            | Event::Stalled { .. }
            | Event::StallEnded { .. }
            | Event::TroubleBegan { .. }
            | Event::TroubleEnded { .. }
            | Event::StormBegan { .. }
            | Event::StormEnded { .. }
            | Event::Contradicted { .. }
            | Event::Upgraded { .. }
            | Event::Missed { .. }
            | Event::Malformed { .. }
            | Event::DecodingStopped { .. }
            | Event::DecoderFailed { .. }
            | Event::Listener { .. }
            | Event::ConnectFailed { .. }
            | Event::NotProbed { .. }
            | Event::Fault { .. }
            | Event::CaptureEnded { .. }
            | Event::Unrecorded { .. } => None,
        }
    }

    fn request(&mut self, record: &RequestRecord, lasted_us: Option<u64>) -> Option<Span> {
        let (method, template) = method_and_template(record)?;
        let lasted = Duration::from_micros(lasted_us.unwrap_or_default());
        let parent = record.traceparent.as_deref();
        if let (Some(parent), Some(Verb::List | Verb::Watch)) = (parent, record.verb) {
            self.traces.insert(record.id, parent.trace);
        }
        let is_sampled = parent.map_or_else(|| self.ids.samples(record.id), TraceParent::is_sampled);
        if !(has_failed(record) || lasted > SLOW || is_sampled) {
            return None;
        }
        let mut attributes = Attributes::default();
        attributes.text("http.request.method", method);
        attributes.text("url.template", &template);
        if let Some(server) = self.connections.get(record.id.connection) {
            attributes.server(server);
        }
        if let Some(status) = record.status {
            attributes.int("http.response.status_code", u64::from(status));
        }
        attributes.text("user_agent.original", &record.client.program);
        attributes.text("k8s.audit_id", record.audit_id.as_deref().unwrap_or_default());
        attributes.text("watchtap.verb", record.verb.map_or("", Verb::as_str));
        attributes.resource(&record.shape.resource, record.shape.scope.as_ref());
        if let Some(verdict) = &record.verdict {
            attributes.verdict(Some(&verdict.served_from), Some(verdict.rule), Some(verdict.certainty));
        }
        if record.verb == Some(Verb::List) {
            record.items.known().into_iter().for_each(|items| attributes.int("watchtap.items", items));
        }
        let error = error(record);
        attributes.text("error.type", error.as_deref().unwrap_or_default());
        let id = self.of_request(record.id, parent.map(|parent| parent.trace));
        let span = span(id, format!("{method} {template}"), record.at, lasted, attributes);
        Some(Span {
            parent_span_id: parent.map(|parent| parent.parent.to_be_bytes().to_vec()).unwrap_or_default(),
            flags: parent.map_or(SAMPLED, |parent| u32::from(parent.flags) | SAMPLED | HAS_REMOTE_PARENT),
            status: error.map(|_error| Status { code: StatusCode::Error.into(), ..Status::default() }),
            ..span
        })
    }

    /// The span of a relist, with links to the request for its first page, to the watch before it and to the list before it.
    fn relist(&self, list: &ListEvent) -> Span {
        let mut attributes = Attributes::default();
        if let Some(cause) = &list.cause {
            attributes.text("watchtap.cause", &cause.to_string());
        }
        attributes.int("watchtap.reflector", list.reflector.0);
        attributes.resource(&list.shape.resource, list.shape.scope.as_ref());
        attributes.verdict(list.served_from.as_ref(), list.rule, list.certainty);
        attributes.text("user_agent.original", &list.client.program);
        for (name, number) in
            [("items", list.items), ("requests", list.requests.into()), ("bytes", list.bytes), ("repeated", list.repeats.repeated)]
        {
            number.known().into_iter().for_each(|number| attributes.int(&format!("watchtap.{name}"), number));
        }
        let links =
            [("first-request", Some(list.first_request)), ("watch-before", list.watch_before), ("list-before", list.list_before)];
        let links = links.into_iter().filter_map(|(role, exchange)| Some(self.link(role, exchange?)));
        let id = self.ids.of_relist(list.reflector, list.first_request);
        let span = span(id, "relist".to_owned(), list.at, list.ended_at.since(list.at), attributes);
        // Its pages are spans of kind CLIENT already, and receivers that make metrics of spans count those.
        Span { kind: SpanKind::Internal.into(), links: links.collect(), ..span }
    }

    /// The span of a request: in the `trace` of its client, or alone in one.
    fn of_request(&self, exchange: ExchangeId, trace: Option<u128>) -> SpanId {
        let id = self.ids.of_request(exchange);
        match trace {
            Some(trace) => SpanId { trace: trace.to_be_bytes().to_vec(), ..id },
            None => id,
        }
    }

    fn link(&self, role: &str, exchange: ExchangeId) -> Link {
        let SpanId { trace, span } = self.of_request(exchange, self.traces.get(exchange).copied());
        let mut attributes = Attributes::default();
        attributes.text("watchtap.link", role);
        Link { trace_id: trace, span_id: span, attributes: attributes.0, ..Link::default() }
    }
}

fn span(id: SpanId, name: String, at: Timestamp, lasted: Duration, attributes: Attributes) -> Span {
    Span {
        trace_id: id.trace,
        span_id: id.span,
        flags: SAMPLED,
        name,
        kind: SpanKind::Client.into(),
        start_time_unix_nano: at.wall_nanos(),
        end_time_unix_nano: at.plus(lasted).wall_nanos(),
        attributes: attributes.0,
        ..Span::default()
    }
}

fn has_failed(record: &RequestRecord) -> bool {
    error(record).is_some()
}

/// `error.type`: the status, or the manner in which the server ended a response, or anyone a request without one. A response that
/// the client did not need any more is no error of the request, and the end of a watch is none.
fn error(record: &RequestRecord) -> Option<String> {
    if let Some(status) = record.status.filter(|status| *status >= 400) {
        return Some(status.to_string());
    }
    let end = record.end?;
    let is_error = record.status.is_none() || (record.verb != Some(Verb::Watch) && is_of_server(end));
    let manner = match end {
        ExchangeEnd::Complete if record.status.is_some() => None,
        ExchangeEnd::Cut(_) | ExchangeEnd::Complete => Some("cut"),
        ExchangeEnd::Reset { .. } => Some("reset"),
        ExchangeEnd::NotObserved => None,
    };
    manner.filter(|_| is_error).map(str::to_owned)
}

fn is_of_server(end: ExchangeEnd) -> bool {
    match end {
        ExchangeEnd::Reset { by, .. } => by == Direction::Response,
        ExchangeEnd::Cut(Some(first)) => first.direction == Direction::Response && first.manner != EndManner::ByWatchtap,
        ExchangeEnd::Cut(None) | ExchangeEnd::Complete | ExchangeEnd::NotObserved => false,
    }
}

impl Attributes {
    /// Leaves out an empty text.
    fn text(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.0.push(KeyValue { key: key.to_owned(), value: Some(text(value)), ..KeyValue::default() });
        }
    }

    fn int(&mut self, key: &str, value: u64) {
        self.0.push(KeyValue { key: key.to_owned(), value: Some(int(value)), ..KeyValue::default() });
    }

    fn server(&mut self, server: &Server) {
        if let Some((host, port)) = server.upstream.rsplit_once(':') {
            self.text("server.address", host.trim_start_matches('[').trim_end_matches(']'));
            if let Ok(port) = port.parse() {
                self.int("server.port", port);
            }
        }
        match server.protocol {
            Some(Protocol::Http1) => self.text("network.protocol.version", "1.1"),
            Some(Protocol::Http2) => self.text("network.protocol.version", "2"),
            None => {}
        }
    }

    fn resource(&mut self, resource: &str, scope: Option<&Scope>) {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        self.text("watchtap.resource", plural);
        self.text("watchtap.subresource", subresource);
        self.text("watchtap.group", group);
        self.text(
            "watchtap.scope",
            match scope {
                Some(Scope::Namespace(_)) => "namespace",
                Some(Scope::AllNamespaces) => "all-namespaces",
                Some(Scope::Cluster) => "cluster",
                Some(Scope::All) => "all",
                None => "",
            },
        );
    }

    fn verdict(&mut self, served_from: Option<&ServedFrom>, rule: Option<&'static str>, certainty: Option<Certainty>) {
        self.text("watchtap.served_from", &served_from.map(ToString::to_string).unwrap_or_default());
        self.text("watchtap.rule", rule.unwrap_or_default());
        self.text(
            "watchtap.certainty",
            match certainty {
                Some(Certainty::Predicted) => "predicted",
                Some(Certainty::Confirmed) => "confirmed",
                Some(Certainty::Contradicted) => "contradicted",
                None => "",
            },
        );
    }
}
