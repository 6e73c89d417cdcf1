//! How other versions would answer a request, and which requests would be cheaper.

use serde::Serialize;

use super::etcd_support::EtcdSupport;
use super::profile::ServerProfile;
use super::route::route;
use super::rules::RuleId;
use super::served_from::{Layer, Otherwise, ServedFrom};
use super::tables::boundaries;
use super::verdict::{CacheState, Question, Verdict};
use super::version::{Release, ServerVersion, Versions};
use crate::k8s::{Continue, ListOptions, RequestInfo, ResourceVersion, ResourceVersionMatch, Verb};
use crate::time::Timestamp;

/// Consecutive versions that answer a request alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VersionSpan {
    /// The first and the last of them.
    pub versions: Versions,
    /// The verdict of the first of them.
    pub verdict: Verdict,
}

/// The answers of all versions that the tables cover, oldest first; empty for requests without a verdict. Gates and etcd are those
/// of `template`; a gate has no effect in a version that does not have it. The cache is assumed to be ready. Which revisions were
/// current is assumed to be unknown.
pub fn across_versions(info: &RequestInfo, options: &ListOptions, template: &ServerProfile) -> Vec<VersionSpan> {
    let mut spans: Vec<VersionSpan> = Vec::new();
    for release in boundaries().iter().copied() {
        let profile = ServerProfile { version: Some(ServerVersion::from(release)), ..template.clone() };
        let Some(verdict) = route(&question(info, options, &profile)) else { return Vec::new() };
        if let Some(previous) = spans.last_mut() {
            previous.versions.last = release.previous();
            if is_alike(&previous.verdict, &verdict) {
                continue;
            }
        }
        spans.push(VersionSpan { versions: Versions { first: release, last: Release::NEWEST }, verdict });
    }
    if let Some(last) = spans.last_mut() {
        last.versions.last = Release::NEWEST;
    }
    spans
}

/// Changes that would avoid reads of objects from etcd, one phrase each. Empty if etcd cannot be the layer that answers.
pub fn cheaper(asked: &Question<'_>) -> Vec<String> {
    let reads_objects = |verdict: &Verdict| verdict.served_from.layers().contains(&Layer::Etcd);
    if !route(asked).is_some_and(|verdict| reads_objects(&verdict)) {
        return Vec::new();
    }
    let mut phrases = Vec::new();
    let any_state = ListOptions {
        resource_version: ResourceVersion::Any,
        resource_version_match: ResourceVersionMatch::Unset,
        continue_token: Continue::Unset,
        ..asked.options.clone()
    };
    if served_from(&Question { options: &any_state, ..*asked }) == Some(ServedFrom::Cache) {
        phrases.push("resourceVersion=0 (cache, may be stale)".to_owned());
        if asked.info.verb != Verb::Watch {
            phrases.push("an informer".to_owned());
        }
    }
    let sound = ServerProfile { etcd: EtcdSupport::AssumedSound, ..asked.profile.clone() };
    let with_sound_etcd = served_from(&Question { profile: &sound, ..*asked });
    if let Some(cached) = with_sound_etcd.filter(is_cached) {
        phrases.push(format!("etcd ≥ 3.5.13, in 3.4 ≥ 3.4.31 (then from {cached})"));
    }
    phrases.extend(newer_server(asked));
    phrases
}

/// Names the newer versions that can answer from the watch cache or its snapshots, all from the same layer:
/// `API server 1.31 – 1.32 or ≥ 1.33.3 (then from cache, consistent)`.
fn newer_server(asked: &Question<'_>) -> Option<String> {
    let version = asked.profile.version.as_ref()?;
    let present = Release::new(version.minor(), version.patch().unwrap_or(Release::LAST_PATCH));
    let spans = across_versions(asked.info, asked.options, asked.profile);
    let mut newer = spans.into_iter().filter(|span| span.versions.first > present && may_be_cached(&span.verdict.served_from));
    let VersionSpan { versions, verdict } = newer.next()?;
    let served_from = verdict.served_from;
    let mut ranges = vec![versions];
    for VersionSpan { versions, .. } in newer.filter(|span| span.verdict.served_from == served_from) {
        match ranges.last_mut() {
            Some(range) if range.last == versions.first.previous() => range.last = versions.last,
            _ => ranges.push(versions),
        }
    }
    let ranges: Vec<String> = ranges.into_iter().map(from_first).collect();
    let answer = if is_cached(&served_from) { served_from.to_string() } else { "a snapshot, while the cache keeps it".to_owned() };
    Some(format!("API server {} (then from {answer})", ranges.join(" or ")))
}

/// Writes a range of versions. A range up to [`Release::NEWEST`] becomes `≥ 1.33.3`.
fn from_first(versions: Versions) -> String {
    let first = versions.first;
    match (versions.last == Release::NEWEST, first.patch) {
        (true, 0) => format!("≥ 1.{}", first.minor),
        (true, _) => format!("≥ {first}"),
        (false, _) => versions.to_string(),
    }
}

fn question<'q>(info: &'q RequestInfo, options: &'q ListOptions, profile: &'q ServerProfile) -> Question<'q> {
    Question { info, options, profile, cache: CacheState::Ready, history: None, now: Timestamp::default() }
}

fn served_from(question: &Question<'_>) -> Option<ServedFrom> {
    route(question).map(|verdict| verdict.served_from)
}

fn is_cached(served_from: &ServedFrom) -> bool {
    matches!(served_from, ServedFrom::Cache | ServedFrom::CacheConsistent | ServedFrom::Snapshot)
}

fn may_be_cached(served_from: &ServedFrom) -> bool {
    is_cached(served_from) || served_from.layers().contains(&Layer::Snapshot)
}

/// Compares layer, rule and second outcome only.
fn is_alike(one: &Verdict, other: &Verdict) -> bool {
    let key = |verdict: &Verdict| -> (ServedFrom, RuleId, Option<Otherwise>) {
        (verdict.served_from.clone(), verdict.rule, verdict.otherwise)
    };
    key(one) == key(other)
}
