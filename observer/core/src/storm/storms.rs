//! Groups relists into storms.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::cost::Cost;
use super::lasting::{MAX_MEMBERS, PastStorm, Room, Storm};
use super::limits::StormLimits;
use super::record::{StormId, StormRecord};
use super::totals::StormTotals;
use crate::observation::UpstreamName;
use crate::reflector::{ListEvent, ReflectorId, RelistBegan};
use crate::time::Timestamp;

/// A report on a storm, made as it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StormEvent {
    /// A storm was declared.
    Began(Box<StormRecord>),
    /// A storm ended.
    Ended(Box<StormRecord>),
}

/// The ongoing and past storms of all API servers.
#[derive(Debug)]
pub struct Storms {
    limits: StormLimits,
    fronts: BTreeMap<UpstreamName, Front>,
    past: VecDeque<PastStorm>,
    next: u64,
    named: u64,
    totals: StormTotals,
}

/// Recent relists and the ongoing storm of one API server.
#[derive(Debug, Default)]
struct Front {
    /// Reflectors that began to relist within the window, each with its cost since.
    recent: BTreeMap<ReflectorId, Recent>,
    /// Estimated bytes of `recent`.
    recent_memory: usize,
    /// The same reflectors by the start of their latest relist, the earliest first.
    order: BTreeSet<(Timestamp, ReflectorId)>,
    storm: Option<Storm>,
}

/// A reflector that began to relist within the window.
#[derive(Debug)]
struct Recent {
    began: RelistBegan,
    cost: Cost,
    /// Whether its latest list is complete.
    is_listed: bool,
}

impl Storms {
    /// An empty table.
    pub const fn new(limits: StormLimits) -> Self {
        Self { limits, fronts: BTreeMap::new(), past: VecDeque::new(), next: 1, named: 0, totals: StormTotals::new() }
    }

    /// Notes the start of a relist. Restarted processes and rebuilt informers take no part: they are a rollout, not a failure.
    pub fn began(&mut self, began: RelistBegan, emit: &mut dyn FnMut(StormEvent)) {
        let at = began.at;
        self.pass(at, emit);
        if began.cause.begins_from_nothing() {
            return;
        }
        let upstream = began.shape.upstream.clone().unwrap_or_default();
        if !self.fronts.contains_key(&upstream) && self.fronts.len() >= self.limits.servers {
            return;
        }
        let room = self.limits.memory.saturating_sub(self.fronts.values().map(Front::memory).sum());
        let front = self.fronts.entry(upstream.clone()).or_default();
        if let Some(storm) = &mut front.storm {
            let most = Room { members: self.limits.members, memory: storm.memory() + room };
            let cost = Cost { relists: 1, ..Cost::default() };
            storm.add(&began, &cost, false, most);
            self.totals.pay(storm.trigger(), &cost);
            front.note(began, room, self.limits.reflectors);
            return;
        }
        front.note(began, room, self.limits.reflectors);
        if front.recent.len() >= self.limits.reflectors {
            let storm = front.name(StormId(self.next), at, Room { members: self.limits.members, memory: room });
            self.next = self.next.saturating_add(1);
            self.named = self.named.saturating_add(1);
            let record = Box::new(storm.record(&upstream, None, MAX_MEMBERS));
            self.totals.declare(&record);
            emit(StormEvent::Began(record));
            front.storm = Some(storm);
        }
    }

    /// Notes the end of a relist.
    pub fn listed(&mut self, list: &ListEvent) {
        let upstream = list.shape.upstream.clone().unwrap_or_default();
        let cost = Cost::of(list);
        for storm in &mut self.past {
            if storm.listed(list, &cost) {
                self.totals.pay(storm.record().trigger, &cost);
            }
        }
        let Some(front) = self.fronts.get_mut(&upstream) else { return };
        match &mut front.storm {
            Some(storm) => {
                if storm.listed(list.reflector, &cost) {
                    self.totals.pay(storm.trigger(), &cost);
                }
            }
            None => {
                if let Some(recent) = front.recent.get_mut(&list.reflector) {
                    recent.cost.add(&cost);
                    recent.is_listed = true;
                }
            }
        }
    }

    /// Advances time to `at`, and reports storms that have ended.
    pub fn pass(&mut self, at: Timestamp, emit: &mut dyn FnMut(StormEvent)) {
        let limits = self.limits;
        for (upstream, front) in &mut self.fronts {
            let ended = front.over_since(&limits).filter(|ended| *ended <= at);
            front.forget_before(at, limits.window);
            if let Some((ended, storm)) = ended.and_then(|ended| Some((ended, front.storm.take()?))) {
                let storm = storm.end(upstream, ended);
                emit(StormEvent::Ended(Box::new(storm.record().clone())));
                self.past.push_back(storm);
                let memory = |past: &VecDeque<PastStorm>| past.iter().map(PastStorm::memory).sum::<usize>();
                while self.past.len() > limits.past || (self.past.len() > 1 && memory(&self.past) > limits.memory) {
                    self.past.pop_front();
                }
            }
        }
        self.fronts.retain(|_, front| front.storm.is_some() || !front.recent.is_empty());
    }

    /// Ongoing storms with at most `most` members each, then the past storms that are kept, the latest first.
    pub fn records(&self, most: usize) -> Vec<StormRecord> {
        let open = self.fronts.iter().filter_map(|(upstream, front)| Some(front.storm.as_ref()?.record(upstream, None, most)));
        open.chain(self.past.iter().rev().map(PastStorm::record).cloned()).collect()
    }

    /// Whether a storm is ongoing.
    pub fn any_is_ongoing(&self) -> bool {
        self.fronts.values().any(|front| front.storm.is_some())
    }

    /// Numbers of ongoing storms, and of their members.
    pub(crate) fn ongoing(&self) -> (u64, u64) {
        let storms = self.fronts.values().filter_map(|front| front.storm.as_ref());
        storms.fold((0, 0), |(storms, members), storm| (storms + 1, members + storm.reflectors()))
    }

    /// Counts over the run.
    pub(crate) const fn totals(&self) -> &StormTotals {
        &self.totals
    }

    /// Number of storms declared so far.
    pub const fn named(&self) -> u64 {
        self.named
    }
}

impl Front {
    /// Estimated bytes of `recent` and of the storm.
    fn memory(&self) -> usize {
        self.recent_memory + self.storm.as_ref().map_or(0, Storm::memory)
    }

    /// Notes a relist. If `recent` would grow by more than `room` bytes, drops the reflectors that relisted first. At least `least`
    /// reflectors stay.
    fn note(&mut self, began: RelistBegan, room: usize, least: usize) {
        let (at, reflector) = (began.at, began.reflector);
        let most = self.recent_memory.saturating_add(room);
        let cost = match self.take(reflector) {
            Some(before) => {
                self.order.remove(&(before.began.at, reflector));
                before.cost
            }
            None => Cost::default(),
        };
        while self.recent_memory.saturating_add(began.memory()) > most
            && self.order.len() >= least
            && let Some((_, first)) = self.order.pop_first()
        {
            self.take(first);
        }
        self.order.insert((at, reflector));
        self.recent_memory = self.recent_memory.saturating_add(began.memory());
        let cost = Cost { relists: cost.relists.saturating_add(1), ..cost };
        self.recent.insert(reflector, Recent { began, cost, is_listed: false });
    }

    fn forget_before(&mut self, at: Timestamp, window: Duration) {
        while let Some((began, reflector)) = self.order.first().copied() {
            if at.since(began) < window {
                return;
            }
            self.order.pop_first();
            self.take(reflector);
        }
    }

    fn take(&mut self, reflector: ReflectorId) -> Option<Recent> {
        let recent = self.recent.remove(&reflector)?;
        self.recent_memory = self.recent_memory.saturating_sub(recent.began.memory());
        Some(recent)
    }

    /// The time when its storm ends, unless more relists follow. It is the end of the first window without a new member and with
    /// few relists. A member that cannot list does not delay the end. The result depends on events only, not on the time of the
    /// call.
    fn over_since(&self, limits: &StormLimits) -> Option<Timestamp> {
        let storm = self.storm.as_ref()?;
        let few = limits.reflectors.div_ceil(2);
        let last_of_many = self.order.iter().rev().nth(few.saturating_sub(1)).map(|(began, _)| *began);
        Some(storm.last.max(last_of_many.unwrap_or_default()).plus(limits.window))
    }

    /// Makes a storm of the reflectors in `recent`.
    fn name(&mut self, id: StormId, at: Timestamp, room: Room) -> Storm {
        let began = self.order.first().map_or(at, |(began, _)| *began);
        let mut storm = Storm::new(id, began, at);
        for Recent { began, cost, is_listed } in self.recent.values_mut() {
            storm.add(began, &std::mem::take(cost), *is_listed, room);
        }
        storm
    }
}
