//! Recognises that an API server was restarted without an end of its requests in its log: it was killed.
//!
//! While it is gone, its log has no records. As soon as it listens again, its clients reconnect; its own reflectors begin from nothing a
//! little later. So the records that follow a silence show what it was.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use super::record::{head, is_own};
use crate::k8s::{ResourceVersion, Verb};
use crate::logs::audit::{AuditEvent, AuditStage};
use crate::observation::RequestLine;
use crate::time::Timestamp;

/// Number of its reflectors that have to begin from nothing.
const REFLECTORS: usize = 3;
/// They begin within this time after the first record. kube-apiserver starts its informers together.
pub(super) const WITHIN: Duration = Duration::from_secs(10);
/// Minimum length of a silence. A kube-apiserver takes longer to start: 0.76 s on an idle machine (v1.34).
const SILENCE: Duration = Duration::from_millis(500);
/// A silence of at least this length replaces the one before it, if no client is back yet. While a kube-apiserver starts, its log may pause
/// for less.
const OTHER_SILENCE: Duration = Duration::from_secs(1);

/// The time of the last record of each log.
#[derive(Debug, Default)]
pub(super) struct Silences(BTreeMap<usize, Timestamp>);

impl Silences {
    /// Notes a record of a log. Whether a silence preceded it.
    pub(super) fn end(&mut self, log: usize, at: Timestamp) -> bool {
        let last = self.0.entry(log).or_insert(at);
        let is_silence = at.since(*last) >= SILENCE;
        *last = at.max(*last);
        is_silence
    }

    /// The logs with a record.
    pub(super) fn logs(&self) -> impl Iterator<Item = usize> {
        self.0.keys().copied()
    }
}

/// Whether the records from `since` on, where a silence ended, show that the API server was killed: its reflectors begin from nothing, although
/// no end of their watches was logged. If another silence follows before any reflector comes back, that one is examined instead. `is_watched`
/// is whether the client of a request has an open watch of what it lists or watches.
pub(super) fn was_killed<'r>(
    since: Timestamp,
    records: impl Iterator<Item = (Timestamp, AuditStage, &'r AuditEvent)>,
    is_watched: impl Fn(&AuditEvent, &RequestLine) -> bool,
) -> bool {
    let (mut ended, mut again, mut last, mut is_back) = (HashSet::new(), HashSet::new(), since, false);
    for (at, stage, event) in records {
        if !is_back && at.since(last) >= OTHER_SILENCE {
            return false;
        }
        last = at;
        if stage != AuditStage::RequestReceived && event.received.is_some_and(|received| received < since) {
            // The server answers a request from before the silence, so it has lived through it.
            return false;
        }
        let is_own = is_own(event);
        if !is_own && (is_back || stage != AuditStage::RequestReceived || !matches!(event.verb.as_str(), "list" | "watch")) {
            continue;
        }
        let request = head(event);
        let comes_back = stage == AuditStage::RequestReceived && is_watched(event, &request);
        is_back |= comes_back;
        if !is_own {
            continue;
        }
        let Some(resource) = request.resource().map(ToString::to_string) else { continue };
        if stage == AuditStage::ResponseComplete && event.verb == "watch" {
            ended.insert(resource);
        } else if comes_back && is_first_list(&request) {
            again.insert(resource);
        }
    }
    again.difference(&ended).count() >= REFLECTORS
}

/// Whether a request is the first list of a reflector of the API server itself. Its live lists have no resource version.
fn is_first_list(request: &RequestLine) -> bool {
    let options = &request.options;
    let is_list = request.info.as_ref().is_some_and(|info| info.verb == Verb::List);
    (is_list && options.resource_version == ResourceVersion::Any)
        || (options.ends_state_with_bookmark() && options.resource_version == ResourceVersion::Unset)
}
