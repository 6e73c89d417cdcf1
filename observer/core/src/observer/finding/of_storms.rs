//! Derives the findings about storms whose causes no other finding explains.

use std::collections::{BTreeMap, BTreeSet};

use super::found::{Finding, finding};
use super::of_clients::all_resources;
use super::of_reflector::explained_by;
use crate::finding_kind::FindingKind;
use crate::quantity::{bytes, counted, length};
use crate::reflector::{ReflectorId, Spell, causes_named};
use crate::storm::{StormKind, StormRecord, Trigger};

/// One finding for each trigger and program. Storms of several clients with the same trigger share one finding. `found` are the
/// findings about reflectors.
pub(super) fn of_storms(storms: &[StormRecord], found: &[Finding]) -> Vec<Finding> {
    let mut alike: BTreeMap<(Trigger, Option<&str>), Vec<&StormRecord>> = BTreeMap::new();
    for storm in storms.iter().filter(|storm| !is_explained(storm, found)) {
        alike.entry((storm.trigger, program(storm))).or_default().push(storm);
    }
    alike.into_values().filter_map(|storms| of_alike(&storms)).collect()
}

/// Whether findings about its members explain most of its relists.
fn is_explained(storm: &StormRecord, found: &[Finding]) -> bool {
    let members: BTreeSet<ReflectorId> = storm.members.iter().map(|member| member.reflector).collect();
    let is_of_member = |finding: &&Finding| finding.reflectors.iter().any(|id| members.contains(id));
    let kinds: BTreeSet<FindingKind> = found.iter().filter(is_of_member).map(|finding| finding.kind).collect();
    let kind = |id: &str| explained_by(causes_named(id).first()?.cause);
    let is_found = |id: &String| kind(id).is_some_and(|kind| kinds.contains(&kind));
    let explained: u64 = storm.causes.iter().filter(|(id, _)| is_found(id)).map(|(_, number)| *number).sum();
    explained.saturating_mul(2) > storm.relists
}

/// The program of the client, if the storm has only one client.
fn program(storm: &StormRecord) -> Option<&str> {
    let first = storm.members.first().filter(|_| storm.kind == StormKind::Client)?;
    Some(&first.client.program)
}

fn of_alike(storms: &[&StormRecord]) -> Option<Finding> {
    let largest = storms.iter().max_by_key(|storm| (storm.reflectors, storm.storm))?;
    let client = largest.members.first().filter(|_| largest.kind == StormKind::Client).map(|member| member.client.clone());
    let times = if storms.len() > 1 { format!("{} storms; for example: ", storms.len()) } else { String::new() };
    let seen = format!(
        "{times}{} of {} relisted within {}: {}, {}",
        counted(largest.reflectors, "reflector"),
        counted(largest.clients, "client"),
        length(largest.last.since(largest.began)),
        counted(largest.items, "object"),
        bytes(largest.bytes)
    );
    let spell = |storm: &&StormRecord| {
        let lasts = Spell::lasting(storm.began);
        storm.ended.map_or(lasts, |_| lasts.over_at(storm.last))
    };
    let reflectors: Vec<ReflectorId> = largest.members.iter().map(|member| member.reflector).collect();
    let found = finding(FindingKind::RelistStorm, client, all_resources(), reflectors, seen);
    Some(Finding {
        id: format!("{}/{}", found.id, largest.trigger),
        amount: storms.iter().map(|storm| storm.relists).fold(0, u64::saturating_add),
        spell: storms.iter().map(spell).reduce(Spell::and),
        advice: largest.trigger.advice(),
        ..found
    })
}
