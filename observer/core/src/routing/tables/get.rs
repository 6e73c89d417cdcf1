//! §2.1: gets of a named object.

use super::not_ready::{GET_NOT_READY, instead_of};
use super::outcome::{CACHE, CACHE_OR_504, Decision, ETCD, Outcome};
use crate::routing::columns::VersionIs;
use crate::routing::facts::Facts;
use crate::routing::rules::{self, RuleId};

struct GetRow {
    version: VersionIs,
    answer: Outcome,
    rule: RuleId,
}

macro_rules! get_rows {
    ($($version:ident => $answer:ident, $rule:ident;)*) => {
        &[$(GetRow { version: VersionIs::$version, answer: $answer, rule: rules::$rule }),*]
    };
}

/// Rows for all versions.
const GETS: &[GetRow] = get_rows! {
    Unset => ETCD,         GET_UNSET_ETCD;
    Zero  => CACHE,        GET_RV0;
    N     => CACHE_OR_504, GET_RV;
};

/// Which layer answers a get that passed validation; `None` when no row covers it.
pub(in crate::routing) fn decide_get(facts: &Facts<'_>) -> Option<Decision> {
    let row = GETS.iter().find(|row| row.version.admits(facts.version))?;
    let ready = row.answer.by(row.rule);
    if facts.ready { Some(ready) } else { instead_of(ready, facts, GET_NOT_READY) }
}
