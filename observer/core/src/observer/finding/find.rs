//! Derives all findings from the state at one moment, and merges findings with the same identifier.

use std::cmp::Reverse;

use super::found::Finding;
use super::of_clients::{of_clients, of_gets, server_errors};
use super::of_lists::of_lists;
use super::of_reflector::of_reflector;
use super::of_storms::of_storms;
use crate::exchange::Shape;
use crate::finding_kind::FindingKind;
use crate::observer::rows::ListRow;
use crate::observer::server_errors::ServerErrorRow;
use crate::observer::upstreams::Upstreams;
use crate::reflector::{GetPoller, RateLimit, ReflectorRow, Spell};
use crate::routing::ServerVersion;
use crate::storm::StormRecord;
use crate::time::Timestamp;

/// Bound for findings; the worst are kept.
pub(in crate::observer) const MAX_FINDINGS: usize = 64;

/// State from which findings are derived.
pub(in crate::observer) struct Known<'k> {
    pub reflectors: &'k [ReflectorRow],
    /// Time of the state of `reflectors`.
    pub at: Timestamp,
    pub lists: &'k [ListRow],
    pub errors: &'k [ServerErrorRow],
    pub limits: &'k [RateLimit],
    pub gets: &'k [GetPoller],
    pub storms: &'k [StormRecord],
    pub upstreams: &'k Upstreams,
}

impl Known<'_> {
    /// The minor release of the API server of `shape`.
    fn minor_of(&self, shape: &Shape) -> Option<u16> {
        let profile = match &shape.upstream {
            Some(upstream) => self.upstreams.known_of(upstream, None).0,
            None => self.upstreams.main_profile(),
        };
        profile.version.as_ref().map(ServerVersion::minor)
    }
}

/// Derives all findings, the worst first; at most `MAX_FINDINGS`.
pub(in crate::observer) fn find(known: &Known<'_>) -> Vec<Finding> {
    let Known { reflectors, at, lists, errors, limits, gets, storms, upstreams: _ } = *known;
    let minor_of = |shape: &Shape| known.minor_of(shape);
    let mut found: Vec<Finding> = reflectors.iter().flat_map(|row| of_reflector(row, lists, minor_of(&row.shape), at)).collect();
    found.extend(of_storms(storms, &found));
    found.extend(of_clients(reflectors, limits));
    found.extend(gets.iter().map(of_gets));
    found.extend(of_lists(lists, reflectors, minor_of));
    found.extend(errors.iter().map(server_errors));
    // Of findings with the same identifier, evidence and advice of the largest remain.
    found.sort_by(|one, other| (one.kind, &one.id, Reverse(one.amount)).cmp(&(other.kind, &other.id, Reverse(other.amount))));
    found.dedup_by(|later, first| {
        let same = later.id == first.id;
        if same {
            first.reflectors.append(&mut later.reflectors);
            first.amount = first.kind.together([first.amount, later.amount].into_iter());
            first.spell = first.spell.into_iter().chain(later.spell).reduce(Spell::and);
        }
        same
    });
    let is_of_several = |kind| {
        matches!(
            kind,
            FindingKind::DuplicateInformers
                | FindingKind::Rollout
                | FindingKind::ClientRateLimit
                | FindingKind::SlowSync
                | FindingKind::ManyWatches
                | FindingKind::RelistStorm
                | FindingKind::ListsFromEtcd
                | FindingKind::ServerErrors
                | FindingKind::FilterAfterReading
                | FindingKind::ConsistentReadFellBack
                | FindingKind::IgnoredLimit
        )
    };
    for finding in found.iter_mut().filter(|finding| finding.reflectors.len() > 1 && !is_of_several(finding.kind)) {
        finding.seen = format!("{} reflectors; for example: {}", finding.reflectors.len(), finding.seen);
    }
    found.truncate(MAX_FINDINGS);
    found
}
