//! Gives the verdicts on many requests, as [`route`] does.
//!
//! While the version of a server is unknown, a verdict takes a look-up for every known version. So the answer
//! is remembered for each class of requests.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::columns::{Match, Token, Version};
use super::etcd_support::EtcdSupport;
use super::facts::{named_revision, names_one};
use super::gates::Gate;
use super::history::Coverage;
use super::keys::{Scope, scope_of};
use super::route::{AnyVersion, connects, coverage, read_resource, route};
use super::tables::names_conflict;
use super::verdict::{CacheState, Question, Verdict};
use crate::k8s::{Resource, Verb};

/// Maximum number of classes that are remembered. A cluster has some dozens.
const MOST_CLASSES: usize = 1_024;

/// The answers for each class of requests, if the version is unknown.
#[derive(Debug, Default)]
pub struct Router {
    /// Gates and etcd of the server that this is about.
    server: Option<(BTreeMap<Gate, bool>, EtcdSupport)>,
    known: HashMap<Class, AnyVersion, RandomState>,
}

/// The facts about a request on which that depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and all their combinations occur")]
struct Class {
    verb: Verb,
    cache: CacheState,
    scope: Scope,
    is_cached: bool,
    connects: bool,
    is_named: bool,
    has_namespace: bool,
    selects_namespace: bool,
    has_conflict: bool,
    is_undecodable: bool,
    token: Token,
    matching: Match,
    version: Version,
    is_limited: bool,
    is_selective: bool,
    initial: Option<bool>,
    bookmarks: bool,
    as_watch: bool,
    /// `None` without a named revision.
    coverage: Option<Coverage>,
}

impl Router {
    /// The verdict of [`route`].
    pub fn route(&mut self, question: &Question<'_>) -> Option<Verdict> {
        if question.profile.version.is_some() {
            return route(question);
        }
        let resource = match read_resource(question) {
            Ok(resource) => resource,
            Err(verdict) => return verdict.map(|verdict| *verdict),
        };
        self.forget_other_servers(question);
        let class = Class::of(question, resource);
        if let Some(known) = self.known.get(&class) {
            return Some(known.verdict(question, resource));
        }
        let known = AnyVersion::of(question, resource);
        let verdict = known.verdict(question, resource);
        if self.known.len() >= MOST_CLASSES {
            self.known.clear();
        }
        self.known.insert(class, known);
        Some(verdict)
    }

    fn forget_other_servers(&mut self, question: &Question<'_>) {
        let profile = question.profile;
        if self.server.as_ref().is_none_or(|(gates, etcd)| *gates != profile.gates || *etcd != profile.etcd) {
            self.server = Some((profile.gates.clone(), profile.etcd));
            self.known.clear();
        }
    }
}

impl Class {
    fn of(question: &Question<'_>, resource: &Resource) -> Self {
        let Question { info, options, profile, cache, .. } = *question;
        let selects_fields = !options.field_selector.is_empty();
        let selected_namespace = || options.exact_field("metadata.namespace").is_some_and(|namespace| !namespace.is_empty());
        Self {
            verb: info.verb,
            cache,
            scope: scope_of(resource),
            is_cached: profile.is_cached(resource),
            connects: connects(info),
            is_named: if selects_fields { names_one(info, options) } else { !info.name.is_empty() },
            has_namespace: !info.namespace.is_empty(),
            selects_namespace: selects_fields && selected_namespace(),
            has_conflict: names_conflict(info, options),
            is_undecodable: options.undecodable,
            token: Token::of(&options.continue_token),
            matching: Match::of(options.resource_version_match),
            version: Version::of(options.resource_version),
            is_limited: options.limit > 0,
            is_selective: selects_fields || !options.label_selector.is_empty(),
            initial: options.send_initial_events,
            bookmarks: options.allow_watch_bookmarks,
            as_watch: options.watch,
            coverage: named_revision(options).map(|revision| coverage(question, revision)),
        }
    }
}
