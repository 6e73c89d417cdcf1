//! §1.11: requests that are refused before an object is read.

use super::answer::{Answer, Decision, REFUSED_400, REFUSED_422, REFUSED_500};
use crate::k8s::{ListOptions, RequestInfo, Verb};
use crate::routing::columns::{GateIs, If, InitialIs, MatchIs, TokenIs, VersionIs};
use crate::routing::facts::Facts;
use crate::routing::gates::Gate;
use crate::routing::rules::{self, RuleId};
use crate::routing::version::Versions;

#[derive(Debug)]
pub(super) struct RefusalRow {
    pub(super) versions: Versions,
    /// Whether the options are validated as those of a watch: `watch` is true, whatever the path says.
    as_watch: If,
    /// Whether a list is made.
    lists: If,
    token: TokenIs,
    matching: MatchIs,
    version: VersionIs,
    initial: InitialIs,
    gate: GateIs,
    answer: Answer,
    rule: RuleId,
}

macro_rules! refusal_rows {
    ($($versions:ident | $as_watch:ident | $lists:ident | $token:ident | $matching:ident | $version:ident | $initial:ident | $gate:ident
        => $answer:ident, $rule:ident;)*) => {
        &[$(RefusalRow {
            versions: $versions,
            as_watch: If::$as_watch,
            lists: If::$lists,
            token: TokenIs::$token,
            matching: MatchIs::$matching,
            version: VersionIs::$version,
            initial: InitialIs::$initial,
            gate: $gate,
            answer: $answer,
            rule: rules::$rule,
        }),*]
    };
}

const ALL: Versions = Versions::ALL;
const V19_TO_26: Versions = Versions::minors(19, 26);
const V19_ON: Versions = Versions::since(19);
const V27_ON: Versions = Versions::since(27);
const ANY: GateIs = GateIs::Any;
const NO_WATCH_LIST: GateIs = GateIs::Off(Gate::WatchList);

/// Validation (422) stands before what only the storage layer refuses (400).
pub(super) const REFUSALS: &[RefusalRow] = refusal_rows! {
    // versions | watch | list | continue | match       | version | initial | gate
    V19_ON      | No    | Any  | Any      | Set         | Unset   | Any     | ANY           => REFUSED_422, REFUSED_MATCH_WITHOUT_VERSION;
    V19_ON      | No    | Any  | Set      | Set         | Any     | Any     | ANY           => REFUSED_422, REFUSED_MATCH_WITH_CONTINUE;
    V19_ON      | No    | Any  | Any      | Exact       | Zero    | Any     | ANY           => REFUSED_422, REFUSED_EXACT_RV0;
    V19_ON      | No    | Any  | Any      | Invalid     | Any     | Any     | ANY           => REFUSED_422, REFUSED_MATCH_UNKNOWN;
    V19_TO_26   | Yes   | Any  | Any      | Set         | Any     | Any     | ANY           => REFUSED_422, REFUSED_MATCH_ON_WATCH;
    V27_ON      | Yes   | Any  | Any      | Set         | Any     | Unset   | ANY           => REFUSED_422, REFUSED_MATCH_ON_WATCH;
    V27_ON      | No    | Any  | Any      | Any         | Any     | Set     | ANY           => REFUSED_422, REFUSED_INITIAL_ON_LIST;
    V27_ON      | Yes   | Any  | Any      | NotNotOlder | Any     | Set     | ANY           => REFUSED_422, REFUSED_INITIAL_WITHOUT_MATCH;
    V27_ON      | Yes   | Any  | Any      | Any         | Any     | Set     | NO_WATCH_LIST => REFUSED_422, REFUSED_INITIAL_GATE_OFF;
    V27_ON      | Yes   | Any  | Set      | Set         | Any     | Any     | ANY           => REFUSED_422, REFUSED_MATCH_WITH_CONTINUE;
    ALL         | Any   | Yes  | Set      | Any         | N       | Any     | ANY           => REFUSED_400, REFUSED_CONTINUE_WITH_VERSION;
    ALL         | Any   | Yes  | Invalid  | Any         | Any     | Any     | ANY           => REFUSED_400, REFUSED_CONTINUE_INVALID;
    ALL         | Any   | Yes  | Any      | Any         | Invalid | Any     | ANY           => REFUSED_400, REFUSED_VERSION_NO_NUMBER;
    ALL         | Any   | No   | Any      | Any         | Invalid | Any     | ANY           => REFUSED_500, REFUSED_VERSION_NO_NUMBER;
};

/// The refusal of a read, if it is refused. A get takes no options but `resourceVersion`.
pub(in crate::routing) fn decide_refusal(info: &RequestInfo, options: &ListOptions, facts: &Facts<'_>) -> Option<Decision> {
    if info.verb == Verb::Get {
        return VersionIs::Invalid.admits(facts.version).then(|| REFUSED_500.by(rules::REFUSED_VERSION_NO_NUMBER));
    }
    if options.undecodable {
        return Some(REFUSED_400.by(rules::REFUSED_UNDECODABLE));
    }
    let lists = info.verb != Verb::Watch;
    let row = REFUSALS.iter().find(|row| row.admits(facts, lists));
    let conflict = || names_conflict(info, options).then(|| REFUSED_400.by(rules::REFUSED_NAME_CONFLICT));
    row.map(|row| row.answer.by(row.rule)).or_else(conflict)
}

/// A name in the path counts as a field selector, and a field selector beside it must demand the same.
fn names_conflict(info: &RequestInfo, options: &ListOptions) -> bool {
    !info.name.is_empty()
        && !options.field_selector.is_empty()
        && options.exact_field("metadata.name").is_none_or(|selected| selected != info.name)
}

impl RefusalRow {
    fn admits(&self, facts: &Facts<'_>, lists: bool) -> bool {
        self.versions.contains(facts.release)
            && self.as_watch.admits(facts.as_watch)
            && self.lists.admits(lists)
            && self.token.admits(facts.token)
            && self.matching.admits(facts.matching, facts.limit)
            && self.version.admits(facts.version)
            && self.initial.admits(facts.initial)
            && facts.gate(self.gate)
    }
}
