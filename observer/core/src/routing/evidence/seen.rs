//! The parts of a request and its answer that can prove something.

use crate::k8s::{Continue, ContinueRevision, ListOptions, RequestInfo, ResourceVersion, ResourceVersionMatch, Status, Verb};
use crate::routing::facts::names_one;
use crate::routing::rules::RuleId;

/// What was seen of one exchange so far.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'e> {
    /// The request.
    pub info: &'e RequestInfo,
    /// Its options.
    pub options: &'e ListOptions,
    /// The highest revision that the API server had shown before the request was made, of this resource or of another one in the same etcd;
    /// `None` when none is known.
    pub shown_before: Option<u64>,
    /// HTTP status.
    pub status: u16,
    /// Whether the body is plain text, as only filters in front of the API handlers write it.
    pub plain_text: bool,
    /// The `Status` object of the answer.
    pub refusal: Option<&'e Status>,
    /// Metadata of a list.
    pub list: Option<ListSeen>,
    /// Items of a list so far.
    pub items: u64,
    /// The `Status` of a watch's `ERROR` event.
    pub error: Option<&'e Status>,
    /// Whether the bookmark came that ends the initial events of a watch.
    pub initial_events_ended: bool,
}

/// What a list says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListSeen {
    /// Its `resourceVersion`, where that is a number.
    pub revision: Option<u64>,
    /// Whether it has a continue token.
    pub continues: bool,
}

/// Which revision a list asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// That depends on what is not known here: a list of one key, or an option that the server may not know.
    Unclear,
    /// The present state, or whatever the cache has; at least some revision where one is named.
    Present,
    /// This one.
    Exactly(u64),
}

impl Evidence<'_> {
    /// Whether it was answered, and with what.
    pub(super) fn answered_list(&self) -> Option<ListSeen> {
        self.list.filter(|_| self.info.verb == Verb::List && self.is_success())
    }

    /// A watch over WebSocket is granted with 101.
    pub(super) const fn is_success(&self) -> bool {
        matches!(self.status, 101 | 200..=299)
    }

    pub(super) fn asked(&self, rule: RuleId) -> Asked {
        let is_matched = self.options.resource_version_match != ResourceVersionMatch::Unset;
        // Servers before 1.19 pass the match over, and no rule of theirs speaks of it.
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
