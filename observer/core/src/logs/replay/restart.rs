//! Recognises that an API server was restarted without an end of its requests in its log: it was killed.

use std::collections::HashSet;
use std::time::Duration;

use crate::k8s::{ResourceVersion, Verb};
use crate::logs::audit::AuditEvent;
use crate::observation::RequestLine;
use crate::time::Timestamp;

/// The user of an API server's own clients (kubernetes/apiserver `pkg/authentication/user/user.go`, `APIServerUser`, v0.16 to v0.36).
pub(super) const SERVER: &str = "system:apiserver";
/// Number of its reflectors that have to begin from nothing.
const REFLECTORS: usize = 3;
/// They all begin within this time. kube-apiserver starts its informers together.
const WITHIN: Duration = Duration::from_secs(10);

/// The own reflectors of the API server of one log that began from nothing, although their watches are open.
#[derive(Debug, Default)]
pub(super) struct RestartSigns {
    again: HashSet<String>,
    since: Timestamp,
    /// The ordinal that the next request had at that time.
    ordinal: u64,
}

/// Whether a request is the first list of a reflector of the API server itself. Its live lists have no resource version.
pub(super) fn is_first_list(event: &AuditEvent, request: &RequestLine) -> bool {
    let options = &request.options;
    let is_list = request.info.as_ref().is_some_and(|info| info.verb == Verb::List);
    let of_informer = (is_list && options.resource_version == ResourceVersion::Any)
        || (options.ends_state_with_bookmark() && options.resource_version == ResourceVersion::Unset);
    event.user == SERVER && of_informer
}

impl RestartSigns {
    /// Notes a first list of a resource whose own watch is open. `ordinal` is that of the next request. If the API server was restarted,
    /// returns the ordinal that the next request had then.
    pub(super) fn note(&mut self, at: Timestamp, ordinal: u64, resource: String) -> Option<u64> {
        if self.again.is_empty() || at.since(self.since) > WITHIN {
            *self = Self { again: HashSet::new(), since: at, ordinal };
        }
        self.again.insert(resource);
        let was = (self.again.len() >= REFLECTORS).then_some(self.ordinal)?;
        self.again.clear();
        Some(was)
    }
}
