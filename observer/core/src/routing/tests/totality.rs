//! Every class of request matches a row, on every version and with every setting of the gates. Every row is matched by a request.

use std::collections::{BTreeMap, BTreeSet};

use crate::k8s::{
    Continue, ContinueRevision, ContinueToken, ListOptions, RequestInfo, ResourceVersion, ResourceVersionMatch, Verb,
};
use crate::routing::columns::{Keys, Snapshot};
use crate::routing::facts::{Facts, World};
use crate::routing::gates::Gate;
use crate::routing::profile::ServerProfile;
use crate::routing::rules::{self, RuleId, all_rules};
use crate::routing::tables::{Decision, LIST_ERAS, boundaries, decide_get, decide_list, decide_refusal, decide_watch};
use crate::routing::version::Release;

#[test]
fn every_request_finds_a_row() {
    for_every_case(|case| {
        let decision = case.decide();
        assert!(decision.is_some(), "{:?} {:?} {:?}", case.info.verb, case.options, case.facts);
    });
}

#[test]
fn every_row_of_the_list_tables_is_found() {
    let mut found = BTreeSet::new();
    for_every_case(|case| {
        if case.info.verb == Verb::List && decide_refusal(&case.info, case.options, &case.facts, true).is_none() {
            let eras = LIST_ERAS.iter().enumerate().filter(|(_, era)| era.is_of(&case.facts));
            let mut rows = eras.flat_map(|(at, era)| era.rows.iter().enumerate().map(move |(row_at, row)| ((at, row_at), row)));
            found.extend(rows.find(|(_, row)| row.admits(&case.facts)).map(|(at, _)| at));
        }
    });
    let dead: Vec<_> = LIST_ERAS
        .iter()
        .enumerate()
        .flat_map(|(at, era)| era.rows.iter().enumerate().map(move |(row_at, row)| ((at, row_at), row)))
        .filter(|(at, _)| !found.contains(at))
        .collect();
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn every_rule_of_the_tables_is_given_by_some_row() {
    let mut given: BTreeSet<RuleId> = BTreeSet::new();
    for_every_case(|case| given.extend(case.decide().map(|decision| decision.rule)));
    let elsewhere = [
        rules::REFUSED_BY_STATUS,
        rules::AGGREGATED_API,
        rules::UNCACHED_RESOURCE,
        rules::GET_CONNECT_ETCD,
        rules::SHOWN_BY_ANSWER,
    ];
    let missing: Vec<&str> = all_rules()
        .map(|rule| rule.id)
        .filter(|id| !given.contains(id) && !elsewhere.contains(id) && !id.as_str().starts_with("unknown-"))
        .map(RuleId::as_str)
        .collect();
    // These two depend on the text of the request, not on its class.
    assert_eq!(missing, ["refused-undecodable", "refused-name-conflict"]);
}

struct Case<'c> {
    info: RequestInfo,
    options: &'c ListOptions,
    facts: Facts<'c>,
}

impl Case<'_> {
    fn decide(&self) -> Option<Decision> {
        let decide = [(Verb::Get, decide_get as fn(&Facts<'_>) -> _), (Verb::Watch, decide_watch), (Verb::List, decide_list)];
        let (_, decide) = decide.into_iter().find(|(verb, _)| *verb == self.info.verb)?;
        decide_refusal(&self.info, self.options, &self.facts, true).or_else(|| decide(&self.facts))
    }
}

fn for_every_case(mut check: impl FnMut(&Case<'_>)) {
    for release in boundaries().iter().copied() {
        for profile in gate_settings(release) {
            for_every_request(release, &profile, &mut check);
        }
    }
}

fn for_every_request(release: Release, profile: &ServerProfile, check: &mut impl FnMut(&Case<'_>)) {
    for (verb, options) in requests() {
        let lists = verb == Verb::List;
        let keys: &[Keys] = if lists { &[Keys::One, Keys::Many] } else { &[Keys::Many] };
        let snapshots: &[Snapshot] = if lists { &[Snapshot::Held, Snapshot::Ahead, Snapshot::Gone] } else { &[Snapshot::Held] };
        for (keys, snapshot) in keys.iter().flat_map(|keys| snapshots.iter().map(move |snapshot| (*keys, *snapshot))) {
            // A token makes every list read a prefix.
            if keys == Keys::One && options.continue_token != Continue::Unset {
                continue;
            }
            for (progress, ready) in [(true, true), (true, false), (false, true), (false, false)] {
                let facts = Facts::new(profile, ready, &options, World { release, progress, keys, snapshot });
                check(&Case { info: info(verb), options: &options, facts });
            }
        }
    }
}

/// All settings of the gates that can be set in `release`.
fn gate_settings(release: Release) -> Vec<ServerProfile> {
    let settable = Gate::ALL.into_iter().filter(|gate| gate.state(release).stage.is_settable());
    let settings = settable.fold(vec![BTreeMap::new()], |settings, gate| {
        let with = |on| {
            settings.iter().cloned().map(move |mut setting: BTreeMap<Gate, bool>| {
                setting.insert(gate, on);
                setting
            })
        };
        with(true).chain(with(false)).collect()
    });
    settings.into_iter().map(|gates| ServerProfile { gates, ..ServerProfile::default() }).collect()
}

fn requests() -> Vec<(Verb, ListOptions)> {
    let mut requests = Vec::new();
    let versions = [ResourceVersion::Unset, ResourceVersion::Any, ResourceVersion::At(7), ResourceVersion::Invalid];
    let matches = [
        ResourceVersionMatch::Unset,
        ResourceVersionMatch::Exact,
        ResourceVersionMatch::NotOlderThan,
        ResourceVersionMatch::Invalid,
    ];
    for (resource_version, resource_version_match) in
        versions.iter().flat_map(|version| matches.iter().map(move |matching| (*version, *matching)))
    {
        let base = ListOptions { resource_version, resource_version_match, ..ListOptions::default() };
        requests.push((Verb::Get, base.clone()));
        for send_initial_events in [None, Some(true), Some(false)] {
            for (watch, allow_watch_bookmarks) in [(true, true), (true, false), (false, false)] {
                let options = ListOptions { watch, send_initial_events, allow_watch_bookmarks, ..base.clone() };
                requests.push((Verb::Watch, options));
            }
        }
        for continue_token in [Continue::Unset, token(ContinueRevision::At(7)), token(ContinueRevision::Latest), Continue::Invalid]
        {
            for (limit, selector) in [(0, ""), (3, ""), (0, "app=x"), (3, "app=x")] {
                let label_selector = selector.to_owned();
                let options = ListOptions { limit, label_selector, continue_token: continue_token.clone(), ..base.clone() };
                requests.push((Verb::List, options));
            }
        }
        requests.push((Verb::List, ListOptions { send_initial_events: Some(true), ..base }));
    }
    requests
}

fn token(revision: ContinueRevision) -> Continue {
    Continue::Token(ContinueToken { revision, start_key: "x".to_owned() })
}

fn info(verb: Verb) -> RequestInfo {
    let info = RequestInfo::parse("GET", "/api/v1/pods", &ListOptions::default(), "");
    RequestInfo { verb, ..info }
}
