//! All storms: from relists, one after another, to what they are together.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::limits::StormLimits;
use super::record::{StormId, StormKind, StormMember, StormRecord};
use super::trigger::Votes;
use crate::observation::UpstreamName;
use crate::reflector::{ClientId, ListTold, ReflectorId, RelistBegan, RelistCause, StuckTold};
use crate::time::{Rate, Timestamp};

/// How long a storm whose lists do not become whole is followed after the last reflector joined it.
const LONGEST_LISTS: Duration = Duration::from_mins(5);
/// Members that are kept of a storm that is over, and told of any: those with the most bytes.
const MEMBERS_TOLD: usize = 32;

/// Over how long the peak rate is taken.
const PEAK_OVER: Duration = Duration::from_secs(1);

/// What storms tell as it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A storm begins.
    Began(Box<StormRecord>),
    /// A storm is over.
    Ended(Box<StormRecord>),
}

/// All storms.
#[derive(Debug)]
pub struct Storms {
    limits: StormLimits,
    fronts: BTreeMap<UpstreamName, Front>,
    past: VecDeque<StormRecord>,
    next: u64,
    named: u64,
}

/// What happens before one API server.
#[derive(Debug, Default)]
struct Front {
    /// Reflectors that began to list within the window, each with its account since.
    recent: BTreeMap<ReflectorId, Recent>,
    /// The same by the time at which each began last, the earliest first.
    order: BTreeSet<(Timestamp, ReflectorId)>,
    /// Reflectors whose lists are not whole yet.
    under_way: BTreeSet<ReflectorId>,
    storm: Option<Storm>,
}

/// A reflector that began to list within the window.
#[derive(Debug)]
struct Recent {
    began: RelistBegan,
    cost: Cost,
}

/// What lists cost.
#[derive(Clone, Debug, Default)]
struct Cost {
    relists: u64,
    requests: u64,
    items: u64,
    bytes: u64,
    repeated: u64,
    served_from: BTreeMap<String, u64>,
}

/// A storm that goes on.
#[derive(Debug)]
struct Storm {
    id: StormId,
    began: Timestamp,
    named: Timestamp,
    last: Timestamp,
    reflectors: BTreeSet<ReflectorId>,
    /// Those of them that are kept one by one.
    members: BTreeMap<ReflectorId, StormMember>,
    clients: BTreeSet<ClientId>,
    votes: Votes,
    causes: BTreeMap<RelistCause, u64>,
    cost: Cost,
    rate: Rate,
    peak: f64,
}

impl Storms {
    /// No storm yet.
    pub const fn new(limits: StormLimits) -> Self {
        Self { limits, fronts: BTreeMap::new(), past: VecDeque::new(), next: 1, named: 0 }
    }

    /// A reflector begins to list again. A client that was started anew, or that begins from nothing of its own accord, takes no part: that
    /// is a rollout, and there nothing went wrong.
    pub fn began(&mut self, began: RelistBegan, told: &mut dyn FnMut(Told)) {
        let at = began.at;
        self.pass(at, told);
        if began.cause.begins_from_nothing() {
            return;
        }
        let upstream = began.shape.upstream.clone().unwrap_or_default();
        if !self.fronts.contains_key(&upstream) && self.fronts.len() >= self.limits.servers {
            return;
        }
        let front = self.fronts.entry(upstream.clone()).or_default();
        front.under_way.insert(began.reflector);
        if let Some(storm) = &mut front.storm {
            storm.add(&began, &Cost { relists: 1, ..Cost::default() }, self.limits.members);
            front.note(began);
            return;
        }
        front.note(began);
        if front.recent.len() >= self.limits.reflectors {
            let storm = front.name(StormId(self.next), at, self.limits.members);
            self.next = self.next.saturating_add(1);
            self.named = self.named.saturating_add(1);
            told(Told::Began(Box::new(storm.record(&upstream, None, MEMBERS_TOLD))));
            front.storm = Some(storm);
        }
    }

    /// A reflector has listed again.
    pub fn listed(&mut self, list: &ListTold) {
        let upstream = list.shape.upstream.clone().unwrap_or_default();
        let Some(front) = self.fronts.get_mut(&upstream) else { return };
        let cost = Cost::of(list);
        front.under_way.remove(&list.reflector);
        match &mut front.storm {
            Some(storm) => storm.pay(list.reflector, &cost),
            None => {
                if let Some(recent) = front.recent.get_mut(&list.reflector) {
                    recent.cost.add(&cost);
                }
            }
        }
    }

    /// A reflector lists in vain: its list is not waited for.
    pub fn stuck(&mut self, stuck: &StuckTold) {
        let upstream = stuck.shape.upstream.clone().unwrap_or_default();
        if let Some(front) = self.fronts.get_mut(&upstream) {
            front.under_way.remove(&stuck.reflector);
        }
    }

    /// Time has come to `at`: what is over is told.
    pub fn pass(&mut self, at: Timestamp, told: &mut dyn FnMut(Told)) {
        let limits = self.limits;
        for (upstream, front) in &mut self.fronts {
            front.forget_before(at, limits.window);
            if front.is_over(at, &limits)
                && let Some(storm) = front.storm.take()
            {
                let record = storm.record(upstream, Some(at), MEMBERS_TOLD);
                if self.past.len() >= limits.past {
                    self.past.pop_front();
                }
                self.past.push_back(record.clone());
                told(Told::Ended(Box::new(record)));
            }
        }
        self.fronts.retain(|_, front| front.storm.is_some() || !front.recent.is_empty());
    }

    /// Those that go on, with `most` members each, then the latest of those that are over, the last first.
    pub fn records(&self, most: usize) -> Vec<StormRecord> {
        let open = self.fronts.iter().filter_map(|(upstream, front)| Some(front.storm.as_ref()?.record(upstream, None, most)));
        open.chain(self.past.iter().rev().cloned()).collect()
    }

    /// Whether there is one now.
    pub fn any_goes_on(&self) -> bool {
        self.fronts.values().any(|front| front.storm.is_some())
    }

    /// How many there were.
    pub const fn named(&self) -> u64 {
        self.named
    }
}

impl Front {
    fn note(&mut self, began: RelistBegan) {
        let (at, reflector) = (began.at, began.reflector);
        let cost = match self.recent.remove(&reflector) {
            Some(before) => {
                self.order.remove(&(before.began.at, reflector));
                before.cost
            }
            None => Cost::default(),
        };
        self.order.insert((at, reflector));
        self.recent.insert(reflector, Recent { began, cost: Cost { relists: cost.relists.saturating_add(1), ..cost } });
    }

    fn forget_before(&mut self, at: Timestamp, window: Duration) {
        while let Some((began, reflector)) = self.order.first().copied() {
            if at.since(began) < window {
                return;
            }
            self.order.pop_first();
            self.recent.remove(&reflector);
        }
    }

    /// Whether a storm is: hardly anybody lists any more, and what was begun is whole. A reflector that lists again and again by itself is
    /// none of it.
    fn is_over(&self, at: Timestamp, limits: &StormLimits) -> bool {
        let Some(storm) = &self.storm else { return false };
        let since_last = at.since(storm.last);
        let is_quiet = since_last >= limits.window && self.recent.len() < limits.reflectors.div_ceil(2);
        is_quiet && (storm.reflectors.is_disjoint(&self.under_way) || since_last >= LONGEST_LISTS)
    }

    /// Those that began within the window are a storm.
    fn name(&mut self, id: StormId, at: Timestamp, members: usize) -> Storm {
        let began = self.order.first().map_or(at, |(began, _)| *began);
        let mut storm = Storm::new(id, began, at);
        for Recent { began, cost } in self.recent.values_mut() {
            storm.add(began, &std::mem::take(cost), members);
        }
        storm
    }
}

impl Storm {
    const fn new(id: StormId, began: Timestamp, named: Timestamp) -> Self {
        Self {
            id,
            began,
            named,
            last: began,
            reflectors: BTreeSet::new(),
            members: BTreeMap::new(),
            clients: BTreeSet::new(),
            votes: Votes::new(),
            causes: BTreeMap::new(),
            cost: Cost::new(),
            rate: Rate::new(PEAK_OVER),
            peak: 0.0,
        }
    }

    fn add(&mut self, began: &RelistBegan, cost: &Cost, members: usize) {
        if self.reflectors.insert(began.reflector) {
            self.last = self.last.max(began.at);
        }
        self.clients.insert(began.client_id);
        self.votes.count(began.cause, began.server_refused);
        let of_cause = self.causes.entry(began.cause).or_default();
        *of_cause = of_cause.saturating_add(1);
        self.rate.note(began.at, cost.relists);
        self.peak = self.peak.max(self.rate.per_second(began.at));
        if let Some(member) = self.members.get_mut(&began.reflector) {
            member.pay(cost);
        } else if self.members.len() < members {
            let mut member = StormMember {
                reflector: began.reflector,
                client_id: began.client_id,
                client: began.client.clone(),
                shape: began.shape.clone(),
                relists: 0,
                requests: 0,
                items: 0,
                bytes: 0,
                repeated: 0,
            };
            member.pay(cost);
            self.members.insert(began.reflector, member);
        }
        self.cost.add(cost);
    }

    fn pay(&mut self, reflector: ReflectorId, cost: &Cost) {
        if !self.reflectors.contains(&reflector) {
            return;
        }
        self.cost.add(cost);
        if let Some(member) = self.members.get_mut(&reflector) {
            member.pay(cost);
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate of lists a second, not below zero")]
    fn record(&self, upstream: &UpstreamName, ended: Option<Timestamp>, most: usize) -> StormRecord {
        let mut members: Vec<StormMember> = self.members.values().cloned().collect();
        members.sort_by_key(|member| (Reverse((member.bytes, member.items, member.relists)), member.reflector));
        members.truncate(most);
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
            peak_per_second: self.peak.round() as u64,
            items: self.cost.items,
            bytes: self.cost.bytes,
            repeated: self.cost.repeated,
            served_from: self.cost.served_from.clone(),
            causes: self.causes.iter().map(|(cause, number)| (cause.id(), *number)).collect(),
            members_not_told: self.reflectors.len().saturating_sub(members.len()) as u64,
            members,
        }
    }
}

impl StormMember {
    const fn pay(&mut self, cost: &Cost) {
        self.relists = self.relists.saturating_add(cost.relists);
        self.requests = self.requests.saturating_add(cost.requests);
        self.items = self.items.saturating_add(cost.items);
        self.bytes = self.bytes.saturating_add(cost.bytes);
        self.repeated = self.repeated.saturating_add(cost.repeated);
    }
}

impl Cost {
    const fn new() -> Self {
        Self { relists: 0, requests: 0, items: 0, bytes: 0, repeated: 0, served_from: BTreeMap::new() }
    }

    fn of(list: &ListTold) -> Self {
        let layer = list.served_from.as_ref().map(|served_from| (served_from.to_string(), 1));
        Self {
            relists: 0,
            requests: list.requests,
            items: list.items,
            bytes: list.bytes,
            repeated: list.repeats.repeated,
            served_from: layer.into_iter().collect(),
        }
    }

    fn add(&mut self, more: &Self) {
        self.relists = self.relists.saturating_add(more.relists);
        self.requests = self.requests.saturating_add(more.requests);
        self.items = self.items.saturating_add(more.items);
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.repeated = self.repeated.saturating_add(more.repeated);
        for (layer, number) in &more.served_from {
            let of_layer = self.served_from.entry(layer.clone()).or_default();
            *of_layer = of_layer.saturating_add(*number);
        }
    }
}
