//! The line of kube-apiserver about a watch that begins, from verbosity 3 on.

use std::time::Duration;

use super::audit::{MAX_ID, MAX_TEXT};
use super::go_duration::go_duration;
use super::klog::{KlogRecord, LogClock};
use super::text::cut;
use crate::time::Timestamp;

/// A watch that begins (kubernetes/apiserver `pkg/endpoints/handlers/get.go`, 1.16.0 to v0.36.0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchStarted {
    /// When the server began it.
    pub at: Option<Timestamp>,
    /// The path of its URI.
    pub path: String,
    /// The resource version to start from; empty if the client set none.
    pub resource_version: String,
    /// The label selector; empty if there is none.
    pub labels: String,
    /// The field selector; empty if there is none.
    pub fields: String,
    /// Time after which the server will end it.
    pub timeout: Option<Duration>,
    /// Whether the client requested initial events. `None` if the server is older than 1.36, or if the client left it open.
    pub send_initial_events: Option<bool>,
    /// The `Audit-Id` of the response, from 1.36 on; otherwise empty.
    pub audit_id: String,
}

impl WatchStarted {
    pub(super) fn read(record: &KlogRecord<'_>, clock: &LogClock) -> Option<Self> {
        let at = record.at(clock);
        if let Some(text) = record.message.strip_prefix("Starting watch for ") {
            return Self::of_text(at, text);
        }
        if record.message != "Starting watch" {
            return None;
        }
        let fields = &record.fields;
        Some(Self {
            at,
            path: cut(fields.get("path")?, MAX_TEXT),
            resource_version: cut(fields.text("resourceVersion"), MAX_TEXT),
            labels: cut(fields.text("labels"), MAX_TEXT),
            fields: cut(fields.text("fields"), MAX_TEXT),
            timeout: fields.get("timeout").and_then(go_duration),
            send_initial_events: fields.get("sendInitialEvents").and_then(|value| value.parse().ok()),
            audit_id: cut(fields.text("audit-ID"), MAX_ID),
        })
    }

    /// Reads `PATH, rv=N labels=L fields=F timeout=D` (1.16 to 1.18). Selectors may have spaces.
    fn of_text(at: Option<Timestamp>, text: &str) -> Option<Self> {
        let (path, rest) = text.split_once(", rv=")?;
        let (resource_version, rest) = rest.split_once(" labels=")?;
        let (labels, rest) = rest.split_once(" fields=")?;
        let (fields, timeout) = rest.rsplit_once(" timeout=")?;
        Some(Self {
            at,
            path: cut(path, MAX_TEXT),
            resource_version: cut(resource_version, MAX_TEXT),
            labels: cut(labels, MAX_TEXT),
            fields: cut(fields, MAX_TEXT),
            timeout: go_duration(timeout),
            send_initial_events: None,
            audit_id: String::new(),
        })
    }
}
