//! Logs of API servers, of their clients and of etcd, as operators already have them.
//!
//! A line goes through three stages. [`Unwrapper`] strips what a cloud or a container runtime has wrapped around it. A reader of one
//! form makes a typed record of it: [`LogLine`] has all forms, and [`EtcdRequest`] is for counting. [`LogRecords`] passes these records on
//! one by one, each with the programs that write it. [`LogReplay`] joins the records of
//! each request, and returns the observations that a tap would have made, as far as the log has them. The
//! [`crate::observer::Observer`] takes these as any others, so there is one copy of each rule.

mod aks_table;
mod audit;
mod audit_id;
mod cache_lines;
mod client_requests;
mod cursor;
mod envelope;
mod etcd;
mod etcd_line;
mod event_list;
mod extent;
mod gke;
mod go_duration;
mod go_text;
mod indented;
mod joined;
mod klog;
mod legacy_audit;
mod line;
mod logged_error;
mod logged_request;
mod origin;
mod records;
mod reflector_lines;
mod replay;
mod request_log;
mod text;
mod texts;
mod trace;
mod usual_event;
mod watch_started;

#[cfg(test)]
mod tests;

pub use audit::{AuditEvent, AuditLevel, AuditStage, MAX_LINE};
pub use audit_id::AuditId;
pub use cache_lines::{CacheEvent, CacheLine, CacheWatch, CachedResource};
pub use client_requests::ClientRequest;
pub use envelope::{Envelope, Unwrapped, Unwrapper, Wrapping};
pub use etcd::{EtcdRequest, RangeRead};
pub use etcd_line::{EtcdEvent, EtcdLine};
pub use extent::LogExtent;
pub use gke::GkeAuditEntry;
pub use joined::JoinedLogs;
pub use klog::LogClock;
pub use line::LogLine;
pub use logged_error::{LoggedError, LoggedErrorKind};
pub use logged_request::LoggedRequest;
pub use origin::LineOrigin;
pub use records::{FoundRecord, LogRecord, LogRecords};
pub use reflector_lines::{ReflectorLine, ReflectorLineEvent};
pub use replay::LogReplay;
pub use request_log::{RequestLog, RequestOutcome};
pub use trace::{EtcdListSpan, LayerSpans, RequestTrace, TraceCollector, TracePart, TraceSpan, TraceStep};
pub use watch_started::WatchStarted;
