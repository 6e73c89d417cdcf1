//! §1.11: requests that are refused before an object is read.

use super::outcome::{Decision, Outcome, REFUSED_400, REFUSED_400_LATE, REFUSED_422, REFUSED_500};
use crate::k8s::{ListOptions, RequestInfo, Verb};
use crate::routing::columns::{GateIs, If, InitialIs, Match, MatchIs, Token, TokenIs, Version, VersionIs};
use crate::routing::facts::Facts;
use crate::routing::gates::Gate;
use crate::routing::rules::{self, RuleId};
use crate::routing::version::{Release, Versions};

#[derive(Debug)]
pub(super) struct RefusalRow {
    pub(super) versions: Versions,
    /// Whether the `watch` parameter is true. The server then validates the options as options of a watch, whatever the path is.
    as_watch: If,
    /// Whether the request lists objects. Here, all verbs except watch do; gets are decided before.
    lists: If,
    token: TokenIs,
    matching: MatchIs,
    version: VersionIs,
    initial: InitialIs,
    gate: GateIs,
    answer: Outcome,
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

/// Rows of validation (422) precede those of the storage layer (400).
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
};

/// The refusal of a request for objects; `None` if validation accepts the request. `cached` is whether the resource has a watch
/// cache. A get has no option other than `resourceVersion`.
pub(in crate::routing) fn decide_refusal(
    info: &RequestInfo,
    options: &ListOptions,
    facts: &Facts<'_>,
    cached: bool,
) -> Option<Decision> {
    let no_number = || version_is_no_number(info.verb, facts, cached);
    if info.verb == Verb::Get {
        return no_number();
    }
    if options.undecodable {
        return Some(REFUSED_400.by(rules::REFUSED_UNDECODABLE));
    }
    let lists = info.verb != Verb::Watch;
    let row = REFUSALS.iter().find(|row| row.admits(facts, lists));
    let conflict = || names_conflict(info, options).then(|| REFUSED_400.by(rules::REFUSED_NAME_CONFLICT));
    row.map(|row| row.answer.by(row.rule)).or_else(no_number).or_else(conflict)
}

/// The first release in which list options are validated before the cache reads them (kubernetes/apiserver
/// `pkg/storage/cacher/delegator.go` `GetList`, v0.33).
const VALIDATES_FOR_THE_CACHE: Release = Release::new(33, 0);
/// The first release whose cache answers lists with a limit (kubernetes/apiserver `pkg/storage/cacher/cacher.go`
/// `shouldDelegateList`).
const CACHE_KNOWS_LIMITS: Release = Release::new(31, 0);

/// The layer that parses `resourceVersion` refuses a value that is not a number. The etcd layer answers 400; for a get, it reads
/// the object first. The watch cache returns an error without a status, which becomes 500. A watch is refused with 500 even without
/// a watch cache. This was measured on 1.29.6 to 1.37.2 (`docs/accuracy.md`).
fn version_is_no_number(verb: Verb, facts: &Facts<'_>, cached: bool) -> Option<Decision> {
    if facts.version != Version::Invalid {
        return None;
    }
    let answer = match verb {
        Verb::Get if !cached => REFUSED_400_LATE,
        Verb::Get | Verb::Watch => REFUSED_500,
        Verb::List | Verb::DeleteCollection if cached && facts.release < VALIDATES_FOR_THE_CACHE && goes_to_the_cache(facts) => {
            REFUSED_500
        }
        Verb::List
        | Verb::Create
        | Verb::Update
        | Verb::Patch
        | Verb::Delete
        | Verb::DeleteCollection
        | Verb::Proxy
        | Verb::Other => REFUSED_400,
    };
    Some(answer.by(rules::REFUSED_VERSION_NO_NUMBER))
}

/// Whether a server before 1.33 passes the list to its watch cache, even if the `resourceVersion` is malformed.
fn goes_to_the_cache(facts: &Facts<'_>) -> bool {
    let limit_is_known = facts.release >= CACHE_KNOWS_LIMITS && facts.matching == Match::NotOlderThan;
    facts.token == Token::Absent && facts.matching != Match::Exact && (!facts.limit || limit_is_known)
}

/// Whether the field selector contradicts the name in the path. If a request has both, its field selector must require this name
/// exactly.
pub(in crate::routing) fn names_conflict(info: &RequestInfo, options: &ListOptions) -> bool {
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
