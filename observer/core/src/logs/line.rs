//! One line of any log, as a typed record.

use memchr::memmem;

use super::audit::{AuditEvent, MAX_LINE};
use super::cache_lines::CacheLine;
use super::client_requests::{ClientRecord, ClientRequest};
use super::etcd_line::{EtcdEvent, EtcdLine};
use super::event_list::read_list;
use super::gke::{GkeAuditEntry, GkeEntry};
use super::klog::{KlogRecord, LogClock, read_json};
use super::legacy_audit;
use super::reflector_lines::ReflectorLine;
use super::request_log::RequestLog;
use super::trace::{TracePart, parts};
use super::watch_started::WatchStarted;
use crate::time::Timestamp;

/// A line without its envelopes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogLine {
    /// An audit event in JSON.
    Audit(Box<AuditEvent>),
    /// A list of audit events, as a webhook gets them.
    AuditList(Vec<AuditEvent>),
    /// An audit event as text.
    LegacyAudit(Box<AuditEvent>),
    /// An entry of GKE's audit log, which lacks the query.
    GkeAudit(Box<GkeAuditEntry>),
    /// A request in kube-apiserver's log.
    Request(Box<RequestLog>),
    /// A watch that begins, in kube-apiserver's log.
    WatchStarted(Box<WatchStarted>),
    /// An event of a watch cache, in kube-apiserver's log.
    Cache(Box<CacheLine>),
    /// Lines of a trace; [`super::TraceCollector`] joins them.
    Trace {
        /// The time of the header of the first line. Further lines have none.
        at: Option<Timestamp>,
        /// The lines. A text that a JSON object holds may have several.
        parts: Vec<TracePart>,
    },
    /// An event of a reflector, in a client's log.
    Reflector(Box<ReflectorLine>),
    /// A request in the log of the program that sent it.
    Client(Box<ClientRequest>),
    /// An event of etcd.
    Etcd(Box<EtcdLine>),
    /// The beginning of an event that was too long for its envelope.
    Cut,
    /// A record of klog about other things.
    Other {
        /// The time of the record.
        at: Option<Timestamp>,
    },
}

impl LogLine {
    /// Reads a line without its envelopes and without its end. `None` if it has none of the forms.
    ///
    /// `clock` has the year and the zone of lines that state neither. Bytes that are not UTF-8 are replaced.
    pub fn read(line: &[u8], clock: &LogClock) -> Option<Self> {
        if line.len() > MAX_LINE {
            return None;
        }
        let line = line.trim_ascii();
        // EKS cuts events that are too long for CloudWatch, and ends them with this text (falcosecurity/plugins `plugins/k8saudit-eks`).
        if line.first() == Some(&b'{') && line.ends_with(b"[Truncated...]") {
            return Some(Self::Cut);
        }
        if line.first() == Some(&b'{') && memmem::find(line, b"\"auditID\"").is_some() {
            // Nothing else has this field, and an event can be long.
            if let Some(event) = AuditEvent::read(line) {
                return Some(Self::Audit(Box::new(event)));
            }
            let mut events = Vec::new();
            if read_list(line, &mut |event| events.push(event)) {
                return Some(Self::AuditList(events));
            }
        }
        let text = String::from_utf8_lossy(line);
        match text.as_bytes().first()? {
            b'{' => Self::json(&text, clock),
            b'I' | b'W' | b'E' | b'F' => KlogRecord::read(&text).map(|record| Self::klog(&record, clock)),
            b'T' => Self::trace(None, &text, clock),
            b'0'..=b'9' => match legacy_audit::read(&text) {
                Some(event) => Some(Self::LegacyAudit(Box::new(event))),
                None => EtcdLine::read(&text, clock).map(|line| Self::Etcd(Box::new(line))),
            },
            _other => None,
        }
    }

    /// The name of the form, as a report shows it.
    pub fn form(&self) -> &'static str {
        match self {
            Self::Audit(_) => "audit event",
            Self::AuditList(_) => "audit event list",
            Self::LegacyAudit(_) => "legacy audit event",
            Self::GkeAudit(_) => "GKE audit entry",
            Self::Request(_) => "request log",
            Self::WatchStarted(_) => "watch started",
            Self::Cache(_) => "watch cache line",
            Self::Trace { .. } => "Trace",
            Self::Reflector(_) => "reflector line",
            Self::Client(_) => "client request",
            Self::Etcd(line) if line.event.is_request() => "etcd request",
            Self::Etcd(line) if line.event == EtcdEvent::Other => "other etcd line",
            Self::Etcd(_) => "etcd maintenance",
            Self::Cut => "cut line",
            Self::Other { .. } => "other klog line",
        }
    }

    /// Whether klog wrote it, whose values may continue in further lines.
    pub const fn is_klog(&self) -> bool {
        match self {
            Self::Request(_)
            | Self::WatchStarted(_)
            | Self::Cache(_)
            | Self::Trace { .. }
            | Self::Reflector(_)
            | Self::Client(_)
            | Self::Other { .. } => true,
            Self::Audit(_) | Self::AuditList(_) | Self::LegacyAudit(_) | Self::GkeAudit(_) | Self::Etcd(_) | Self::Cut => false,
        }
    }

    /// When the line was written, if it states that. For an audit event, the time of its stage; for a list, that of the last event.
    pub fn at(&self) -> Option<Timestamp> {
        let of_event = |event: &AuditEvent| event.reached.or(event.received);
        match self {
            Self::Audit(event) | Self::LegacyAudit(event) => of_event(event),
            Self::AuditList(events) => events.last().and_then(of_event),
            Self::GkeAudit(entry) => entry.at,
            Self::Request(request) => request.logged,
            Self::WatchStarted(watch) => watch.at,
            Self::Cache(line) => line.at,
            Self::Reflector(line) => line.at,
            Self::Client(request) => request.at,
            Self::Etcd(line) => line.at,
            Self::Trace { at, .. } | Self::Other { at } => *at,
            Self::Cut => None,
        }
    }

    fn json(text: &str, clock: &LogClock) -> Option<Self> {
        // A GKE entry has a timestamp of its own name, and zap's lines have a level. So at most one reader takes the text.
        if memmem::find(text.as_bytes(), b"\"protoPayload\"").is_some()
            || memmem::find(text.as_bytes(), b"\"k8s_control_plane_component\"").is_some()
        {
            match GkeEntry::read(text)? {
                GkeEntry::Audit(entry) => return Some(Self::GkeAudit(Box::new(entry))),
                GkeEntry::Component(entry) => return Some(Self::klog(&entry.record(), clock)),
            }
        }
        // Lines in an envelope have none of these forms; they are many.
        memmem::find(text.as_bytes(), b"\"msg\"")?;
        if let Some(record) = read_json(text) {
            return Some(Self::klog(&record, clock));
        }
        EtcdLine::read(text, clock).map(|line| Self::Etcd(Box::new(line)))
    }

    fn klog(record: &KlogRecord<'_>, clock: &LogClock) -> Self {
        let at = record.at(clock);
        if let Some(trace) = Self::trace(at, &record.message, clock) {
            return trace;
        }
        if let Some(request) = RequestLog::read(record, clock) {
            return Self::Request(Box::new(request));
        }
        if let Some(watch) = WatchStarted::read(record, clock) {
            return Self::WatchStarted(Box::new(watch));
        }
        if let Some(line) = CacheLine::read(record, clock) {
            return Self::Cache(Box::new(line));
        }
        if let Some(line) = ReflectorLine::read(record, clock) {
            return Self::Reflector(Box::new(line));
        }
        match ClientRecord::read(record, clock) {
            Some(ClientRecord::Request(request)) => Self::Client(Box::new(request)),
            Some(ClientRecord::Detail) | None => Self::Other { at },
        }
    }

    fn trace(at: Option<Timestamp>, text: &str, clock: &LogClock) -> Option<Self> {
        let parts = parts(text, clock);
        (!parts.is_empty()).then_some(Self::Trace { at, parts })
    }
}
