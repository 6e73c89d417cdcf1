//! The prediction of the rules for a row's request.

use crate::k8s::{Continue, ContinueRevision, ListOptions, RequestInfo, ResourceVersion, ResourceVersionMatch, Verb};
use crate::routing::{CacheState, Question, RevisionHistory, ServedFrom, ServerProfile, Verdict, route};
use crate::time::Timestamp;

/// The predicted answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The verdict of the rules.
    pub verdict: Verdict,
    /// A get, a list or a watch.
    pub verb: Verb,
    /// Whether the request asks for the state at one revision, so that a cache's current state is no answer.
    pub is_exact: bool,
    /// Whether it is a watch that sends all existing objects first.
    pub begins_with_objects: bool,
}

impl Prediction {
    /// Predicts the answer to a GET of path and query; `None` when the rules give no verdict.
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

    /// Whether an extension server answers.
    pub fn is_proxied(&self) -> bool {
        self.verdict.served_from == ServedFrom::Proxied
    }

    /// Whether the rules name only one layer, so that a row can disagree.
    pub fn is_conclusive(&self) -> bool {
        !matches!(self.verdict.served_from, ServedFrom::Unknown { .. })
    }
}

/// Whether the existing objects come first: when the request asks for them, and by default without a revision.
fn begins_with_objects(info: &RequestInfo, options: &ListOptions) -> bool {
    let names_none = matches!(options.resource_version, ResourceVersion::Unset | ResourceVersion::Any);
    info.verb == Verb::Watch && options.send_initial_events.unwrap_or(names_none)
}

/// Whether a list is exact: by its match, by a limit (§1.3 of docs/semantics.md), or as a page at the revision of the first page.
fn is_exact(options: &ListOptions) -> bool {
    match (&options.continue_token, options.resource_version, options.resource_version_match) {
        (Continue::Token(token), _, _) => token.revision != ContinueRevision::Latest,
        (Continue::Unset, ResourceVersion::At(_), ResourceVersionMatch::Exact) => true,
        (Continue::Unset, ResourceVersion::At(_), ResourceVersionMatch::Unset) => options.limit > 0,
        _ => false,
    }
}
