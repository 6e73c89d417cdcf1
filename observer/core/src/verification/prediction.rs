//! What the rules say of a row's request.

use crate::k8s::{Continue, ContinueRevision, ListOptions, RequestInfo, ResourceVersion, ResourceVersionMatch, Verb};
use crate::routing::{CacheState, Question, RevisionHistory, ServedFrom, ServerProfile, Verdict, route};
use crate::time::Timestamp;

/// A request, and who will answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// As the tables have it.
    pub verdict: Verdict,
    /// A get, a list or a watch.
    pub verb: Verb,
    /// Whether the state at one revision is asked for, so that a cache's present state is no answer.
    pub is_exact: bool,
    /// Whether it is a watch that has to tell of every object first.
    pub begins_with_objects: bool,
}

impl Prediction {
    /// Asks the rules about a GET of path and query; `None` where they say nothing.
    pub fn of(request: &str, profile: &ServerProfile, history: &RevisionHistory, now: Timestamp) -> Option<Self> {
        let (path, query) = request.split_once('?').unwrap_or((request, ""));
        let options = ListOptions::parse(query);
        let info = RequestInfo::parse("GET", path, &options, "");
        let question = Question { info: &info, options: &options, profile, cache: CacheState::Ready, history: Some(history), now };
        Some(Self {
            verdict: route(&question)?,
            verb: info.verb,
            is_exact: is_exact(&options),
            begins_with_objects: begins_with_objects(&info, &options),
        })
    }

    /// Whether another server is to answer.
    pub fn is_proxied(&self) -> bool {
        self.verdict.served_from == ServedFrom::Proxied
    }

    /// Whether only one layer is named, so that a row can be wrong.
    pub fn is_decided(&self) -> bool {
        !matches!(self.verdict.served_from, ServedFrom::Unknown { .. })
    }
}

/// The objects that there are come first where no revision is given, or where they are asked for.
fn begins_with_objects(info: &RequestInfo, options: &ListOptions) -> bool {
    let names_none = matches!(options.resource_version, ResourceVersion::Unset | ResourceVersion::Any);
    info.verb == Verb::Watch && options.send_initial_events.unwrap_or(names_none)
}

/// An exact match, one that a limit implies (§1.3 of the semantics reference), or a page at the revision of the first.
fn is_exact(options: &ListOptions) -> bool {
    match (&options.continue_token, options.resource_version, options.resource_version_match) {
        (Continue::Token(token), _, _) => token.revision != ContinueRevision::Latest,
        (Continue::Unset, ResourceVersion::At(_), ResourceVersionMatch::Exact) => true,
        (Continue::Unset, ResourceVersion::At(_), ResourceVersionMatch::Unset) => options.limit > 0,
        _ => false,
    }
}
