//! The state of a storm: while it is ongoing, and after its end, when some members may still lack a complete list.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::cost::Cost;
use super::record::{StormId, StormKind, StormMember, StormRecord};
use super::trigger::{Trigger, Votes};
use crate::exchange::ClientId;
use crate::observation::UpstreamName;
use crate::quantity::Amount;
use crate::reflector::{ListEvent, ReflectorId, RelistBegan, RelistCause};
use crate::time::{Rate, Timestamp};

/// Bound for the members kept of a past storm, and for those reported with any storm: the ones with the most bytes, and the ones
/// without a complete list.
pub(super) const MAX_MEMBERS: usize = 32;

/// Maximum number of reflectors, and of clients, that a storm counts exactly. Above it, the counts are lower bounds.
const MOST_COUNTED: usize = 65_536;

/// Room for members that are kept individually.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Maximum number.
    pub members: usize,
    /// Maximum of their estimated bytes.
    pub memory: usize,
}

/// Time over which the peak rate is averaged.
const PEAK_OVER: Duration = Duration::from_secs(1);

/// An ongoing storm.
#[derive(Debug)]
pub(super) struct Storm {
    id: StormId,
    began: Timestamp,
    named: Timestamp,
    /// When the last member joined.
    pub last: Timestamp,
    reflectors: BTreeSet<ReflectorId>,
    /// Members that are kept individually.
    members: BTreeMap<ReflectorId, StormMember>,
    /// Estimated bytes of `members`.
    memory: usize,
    /// Members whose latest list is not complete.
    unlisted: BTreeSet<ReflectorId>,
    clients: BTreeSet<ClientId>,
    votes: Votes,
    causes: BTreeMap<RelistCause, u64>,
    cost: Cost,
    rate: Rate,
    peak: f64,
}

/// A storm that has ended, with its final record.
#[derive(Debug)]
pub(super) struct PastStorm {
    record: StormRecord,
    /// Members that have not completed a list since.
    unlisted: BTreeMap<ReflectorId, StormMember>,
}

impl Storm {
    pub(super) const fn new(id: StormId, began: Timestamp, named: Timestamp) -> Self {
        Self {
            id,
            began,
            named,
            last: began,
            reflectors: BTreeSet::new(),
            members: BTreeMap::new(),
            memory: 0,
            unlisted: BTreeSet::new(),
            clients: BTreeSet::new(),
            votes: Votes::new(),
            causes: BTreeMap::new(),
            cost: Cost::new(),
            rate: Rate::new(PEAK_OVER),
            peak: 0.0,
        }
    }

    /// Estimated bytes of its members.
    pub(super) const fn memory(&self) -> usize {
        self.memory
    }

    /// Adds a relist of a member, or the relists of a reflector from before the storm was declared. Reflectors beyond the first
    /// `MOST_COUNTED` are not counted as members.
    pub(super) fn add(&mut self, began: &RelistBegan, cost: &Cost, is_listed: bool, room: Room) {
        if self.reflectors.len() < MOST_COUNTED && self.reflectors.insert(began.reflector) {
            self.last = self.last.max(began.at);
        }
        if !is_listed && self.reflectors.contains(&began.reflector) {
            self.unlisted.insert(began.reflector);
        }
        if self.clients.len() < MOST_COUNTED {
            self.clients.insert(began.client_id);
        }
        self.votes.count(began.cause, began.server_refused);
        if self.causes.len() < RelistCause::MOST_COUNTED || self.causes.contains_key(&began.cause) {
            let of_cause = self.causes.entry(began.cause).or_default();
            *of_cause = of_cause.saturating_add(1);
        }
        self.rate.note(began.at, cost.relists);
        self.peak = self.peak.max(self.rate.per_second(began.at));
        if let Some(member) = self.members.get_mut(&began.reflector) {
            member.pay(cost);
        } else if self.members.len() < room.members && self.memory + began.memory() <= room.memory {
            self.memory = self.memory.saturating_add(began.memory());
            let mut member = StormMember {
                reflector: began.reflector,
                client_id: began.client_id,
                client: began.client.clone(),
                shape: began.shape.clone(),
                relists: 0,
                requests: 0,
                items: Amount::ZERO,
                bytes: Amount::ZERO,
                repeated: Amount::ZERO,
            };
            member.pay(cost);
            self.members.insert(began.reflector, member);
        }
        self.cost.add(cost);
    }

    /// The trigger that most relists show so far.
    pub(super) fn trigger(&self) -> Trigger {
        self.votes.trigger()
    }

    /// Number of its members.
    pub(super) fn reflectors(&self) -> u64 {
        self.reflectors.len() as u64
    }

    /// Notes a complete list of a reflector, which may be a member. Returns whether the list counts.
    pub(super) fn listed(&mut self, reflector: ReflectorId, cost: &Cost) -> bool {
        if !self.reflectors.contains(&reflector) {
            return false;
        }
        self.unlisted.remove(&reflector);
        self.cost.add(cost);
        if let Some(member) = self.members.get_mut(&reflector) {
            member.pay(cost);
        }
        true
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate of lists per second is not negative")]
    pub(super) fn record(&self, upstream: &UpstreamName, ended: Option<Timestamp>, most: usize) -> StormRecord {
        let mut members: Vec<StormMember> = self.members.values().cloned().collect();
        members.sort_by_key(most_bytes_first);
        members.truncate(most);
        let unlisted = self.unlisted.iter().filter_map(|reflector| self.members.get(reflector)).take(MAX_MEMBERS);
        StormRecord {
            storm: self.id,
            kind: if self.clients.len() > 1 { StormKind::Clients } else { StormKind::Client },
            trigger: self.votes.trigger(),
            upstream: upstream.clone(),
            began: self.began,
            named: self.named,
            last: self.last,
            ended,
            reflectors: self.reflectors.len() as u64,
            clients: self.clients.len() as u64,
            relists: self.cost.relists,
            complete: self.cost.complete,
            peak_per_second: self.peak.round() as u64,
            items: self.cost.items,
            bytes: self.cost.bytes,
            repeated: self.cost.repeated,
            served_from: self.cost.served_from.clone(),
            causes: self.causes.iter().map(|(cause, number)| (cause.id(), *number)).collect(),
            members_omitted: self.reflectors.len().saturating_sub(members.len()) as u64,
            members,
            without_list: self.unlisted.len() as u64,
            unlisted: unlisted.cloned().collect(),
        }
    }

    /// Ends the storm at `ended`. Members without a complete list may still complete one.
    pub(super) fn end(mut self, upstream: &UpstreamName, ended: Timestamp) -> PastStorm {
        let record = self.record(upstream, Some(ended), MAX_MEMBERS);
        let unlisted = self.unlisted.iter().filter_map(|reflector| self.members.remove_entry(reflector)).collect();
        PastStorm { record, unlisted }
    }
}

const fn most_bytes_first(member: &StormMember) -> (Reverse<(u64, u64, u64)>, ReflectorId) {
    (Reverse((member.bytes.or_zero(), member.items.or_zero(), member.relists)), member.reflector)
}

impl PastStorm {
    /// Estimated bytes of its members.
    pub(super) fn memory(&self) -> usize {
        let StormRecord { members, unlisted, .. } = &self.record;
        members.iter().chain(unlisted).chain(self.unlisted.values()).map(StormMember::memory).sum()
    }

    /// Its record, with the lists that members completed after its end.
    pub(super) const fn record(&self) -> &StormRecord {
        &self.record
    }

    /// Notes a complete list of a reflector, which may be a member that lacked one. Returns whether the list counts.
    pub(super) fn listed(&mut self, list: &ListEvent, cost: &Cost) -> bool {
        if self.unlisted.remove(&list.reflector).is_none() {
            return false;
        }
        let record = &mut self.record;
        record.without_list = record.without_list.saturating_sub(1);
        record.unlisted = self.unlisted.values().take(MAX_MEMBERS).cloned().collect();
        // A list that began after the storm does not belong to it.
        if record.ended.is_none_or(|ended| list.at > ended) {
            return false;
        }
        record.complete = record.complete.saturating_add(cost.complete);
        record.items = record.items.saturating_add(cost.items);
        record.bytes = record.bytes.saturating_add(cost.bytes);
        record.repeated = record.repeated.saturating_add(cost.repeated);
        for (layer, number) in &cost.served_from {
            let of_layer = record.served_from.entry(layer.clone()).or_default();
            *of_layer = of_layer.saturating_add(*number);
        }
        if let Some(member) = record.members.iter_mut().find(|member| member.reflector == list.reflector) {
            member.pay(cost);
            record.members.sort_by_key(most_bytes_first);
        }
        true
    }
}
