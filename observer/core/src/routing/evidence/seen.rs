//! The parts of a request and its answer that can prove something.

use super::recorded::RecordedRead;
use crate::k8s::{Continue, ContinueRevision, ListOptions, RequestInfo, ResourceVersion, ResourceVersionMatch, Status, Verb};
use crate::routing::facts::names_one;
use crate::routing::rules::RuleId;

/// The facts about one exchange so far that can prove something.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'e> {
    /// The request, as kube-apiserver reads it.
    pub info: &'e RequestInfo,
    /// The list options of the request.
    pub options: &'e ListOptions,
    /// The highest revision that the API server had shown before the request, of this resource or of another one in the same etcd.
    /// `None` if it is unknown.
    pub shown_before: Option<u64>,
    /// HTTP status of the response.
    pub status: u16,
    /// Whether the body is plain text, which only filters in front of the API handlers write.
    pub plain_text: bool,
    /// The `Status` object of the answer, if it has one.
    pub refusal: Option<&'e Status>,
    /// Metadata of the list in the answer, once it has been read.
    pub list: Option<ListSeen>,
    /// Items of the list that have arrived so far.
    pub items: u64,
    /// The `Status` of a watch's `ERROR` event.
    pub error: Option<&'e Status>,
    /// Whether the bookmark that ends the initial events of a watch has arrived.
    pub initial_events_ended: bool,
    /// How the request was answered, as a log shows.
    pub recorded: Option<RecordedRead>,
}

/// The metadata of a list that can prove something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListSeen {
    /// Its `resourceVersion`; `None` if that is not a number.
    pub revision: Option<u64>,
    /// Whether it has a continue token.
    pub continues: bool,
}

/// The revision that a list asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Not decided: the list reads one key, or has an option that the server may not know.
    Unclear,
    /// The current state, or any state that the cache has; at least the named revision, if there is one.
    Present,
    /// Exactly this revision.
    Exactly(u64),
}

impl Evidence<'_> {
    /// The metadata of a list that was answered with success; `None` for other exchanges.
    pub(super) fn answered_list(&self) -> Option<ListSeen> {
        self.list.filter(|_| self.info.verb == Verb::List && self.is_success())
    }

    /// Whether the request was accepted: 2xx, or 101 for a watch over WebSocket.
    pub(super) const fn is_success(&self) -> bool {
        matches!(self.status, 101 | 200..=299)
    }

    pub(super) fn asked(&self, rule: RuleId) -> Asked {
        let is_matched = self.options.resource_version_match != ResourceVersionMatch::Unset;
        // Servers before 1.19 ignore the match. The rules `list-exact…` and `list-not-older…` exist only for servers that know it.
        // For `list-rv0`, the result is the same with and without it.
        let knows_match = ["list-exact", "list-not-older", "list-rv0"].iter().any(|known| rule.as_str().starts_with(known));
        if names_one(self.info, self.options) || (is_matched && !knows_match) {
            return Asked::Unclear;
        }
        let ListOptions { resource_version, resource_version_match, limit, continue_token, .. } = self.options;
        match (continue_token, resource_version, resource_version_match) {
            (Continue::Token(token), _, _) => match token.revision {
                ContinueRevision::At(revision) => Asked::Exactly(revision),
                ContinueRevision::Latest => Asked::Present,
            },
            (_, ResourceVersion::At(revision), ResourceVersionMatch::Exact) => Asked::Exactly(*revision),
            (_, ResourceVersion::At(revision), ResourceVersionMatch::Unset) if *limit > 0 => Asked::Exactly(*revision),
            _ => Asked::Present,
        }
    }
}
