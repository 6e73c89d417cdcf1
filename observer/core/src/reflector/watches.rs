//! Changes the state of a reflector when a watch is requested, delivers events, or ends.

use super::events::{ReflectorEvent, ResumeEvent};
use super::failure::FailureKind;
use super::moment::Happened;
use super::spells::Trouble;
use super::state::{Interrupted, Reflector, Room, State};
use super::versions::Versions;
use super::watch_end::WatchEnd;
use super::watching::{PastWatch, Watching};
use crate::exchange::Exchange;
use crate::k8s::ResourceVersion;
use crate::time::{Timestamp, microseconds};
use crate::wire::{EventType, WatchFrame};

impl Reflector {
    /// Processes a request for a watch that does not begin with all objects.
    pub(super) fn watches(&mut self, exchange: &Exchange) {
        let at = exchange.started;
        self.last_seen = at;
        self.counts.note_watch_request();
        self.polls.watch();
        self.watched_since_list = true;
        let resource_version = exchange.request.options.resource_version;
        self.timeline.push(at, Happened::WatchAsked { exchange: exchange.id, resource_version, initial_events: false });
        self.state = State::Watching(Box::new(Watching::begin(exchange)));
        match resource_version {
            // A `/watch/` path sends all objects as events; `sendInitialEvents=false` starts at any revision. Neither continues
            // earlier state.
            ResourceVersion::Unset | ResourceVersion::Any => self.forget_all(),
            ResourceVersion::At(revision) => {
                if let Some(chosen) = self.unlogged_revision.take() {
                    self.listed_revision = Some((revision, chosen));
                }
                // The revision in the request counts, since events under way when the previous watch broke may not have reached the
                // client.
                if self.revision != Some(revision) {
                    let listed = self.listed_revision.filter(|(listed, _)| *listed == revision);
                    // The events of a watch are not in a log, but they came before its end.
                    let before = self.past_watch.as_ref().filter(|watch| watch.is_logged()).map(|watch| watch.ended);
                    self.advance(before.unwrap_or(at), revision, listed.map(|(_, chosen)| chosen));
                }
                self.continues_unseen();
            }
            ResourceVersion::Invalid => self.continues_unseen(),
        }
        if std::mem::take(&mut self.out_of_sight) {
            self.forget_watches();
        }
    }

    /// A watch from a revision implies an earlier list, observed or not.
    const fn continues_unseen(&mut self) {
        if !std::mem::replace(&mut self.had_a_list, true) {
            self.objects.is_partial = true;
        }
    }

    fn forget_all(&mut self) {
        self.objects = Versions::default();
        self.forget_watches();
    }

    /// Drops the facts about earlier watches, because they do not explain the next request.
    pub(super) fn forget_watches(&mut self) {
        self.past_watch = None;
        self.interrupted = None;
        self.resuming = None;
    }

    /// Processes the head of a response.
    pub(super) fn answered(&mut self, exchange: &Exchange, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        if !exchange.response.as_ref().is_some_and(|(_, response)| response.is_granted()) {
            return;
        }
        self.end_refusals(exchange, at, emit);
        let (State::Watching(watching) | State::Listing(_, Some(watching))) = &mut self.state else { return };
        if watching.exchange != exchange.id || watching.opened.is_some() {
            return;
        }
        watching.opened = Some(at);
        self.timeline.push(at, Happened::WatchOpened);
        if let State::Listing(listing, _) = &mut self.state
            && listing.is_without_end()
        {
            listing.note_answer(exchange);
        }
        if !matches!(self.state, State::Watching(_)) {
            return self.end_logged_state(exchange, at, emit);
        }
        if let Some(list) = self.first_list.take() {
            emit(ReflectorEvent::InitialList(list));
        }
        if let Some(Interrupted { past, attempts }) = &self.interrupted {
            self.resuming = Some(Box::new(ResumeEvent {
                at,
                reflector: self.id,
                client: self.client.clone(),
                shape: self.shape.clone(),
                resource_version: self.revision,
                after: past.end,
                attempts: *attempts,
                paused_us: microseconds(exchange.started.since(past.ended)),
            }));
        }
    }

    /// Confirms an accepted watch as a resume, because it delivered an event or lasted for a second. Acceptance alone proves
    /// nothing: the server also accepts a watch from an expired revision. The first event of such a watch is an `ERROR` event.
    pub(super) fn confirm_resume(&mut self, emit: &mut dyn FnMut(ReflectorEvent)) {
        if let Some(resume) = self.resuming.take() {
            self.interrupted = None;
            self.past_watch = None;
            self.counts.note_resume();
            emit(ReflectorEvent::Resumed(resume));
        }
    }

    pub(super) fn delivered(
        &mut self,
        exchange: &Exchange,
        at: Timestamp,
        frames: &[WatchFrame],
        room: &mut Room,
        emit: &mut dyn FnMut(ReflectorEvent),
    ) {
        let (mut events, mut bookmarks) = (0, 0);
        self.end_silence(at, emit);
        for frame in frames {
            if frame.event_type != EventType::Error {
                self.confirm_resume(emit);
                self.end_futile(at, emit);
            }
            if self.is_behind_state(frame) {
                self.note_delivery(at, &mut events, &mut bookmarks);
                self.end_state(Some(exchange), emit);
            }
            if let State::Listing(listing, Some(_)) = &mut self.state {
                listing.bytes = listing.bytes.saturating_add(frame.bytes);
            }
            match frame.event_type {
                EventType::Error => {
                    let code = frame.status.as_ref().map_or(0, |status| status.code);
                    self.note_delivery(at, &mut events, &mut bookmarks);
                    self.timeline.push(at, Happened::failed(code, frame.status.as_deref()));
                    self.resuming = None;
                    continue;
                }
                EventType::Bookmark => bookmarks += 1,
                EventType::Added | EventType::Modified | EventType::Deleted => {
                    events += 1;
                    self.take(frame);
                    if room.is_exceeded_by(self.kept_objects()) {
                        self.thin();
                    }
                }
                EventType::Unknown => events += 1,
            }
            match (ResourceVersion::number(&frame.object.resource_version), &mut self.state) {
                // The client has no revision of a streaming list before the list is complete.
                (Some(revision), State::Listing(listing, _)) => {
                    let before = listing.revision.filter(|_| listing.is_without_end());
                    listing.revision = before.max(Some(revision));
                }
                (Some(revision), State::Listed | State::Waiting) => self.advance(at, revision, Some(at)),
                (Some(revision), State::Watching(watching)) => {
                    // The first events may have happened at any time before the watch began.
                    let chosen = if watching.catches_up(at) { self.revision_chosen } else { Some(at) };
                    self.advance(at, revision, chosen);
                }
                (None, _) => {}
            }
            if frame.initial_events_end {
                self.note_delivery(at, &mut events, &mut bookmarks);
                self.initial_events_ended(exchange, at, emit);
            }
        }
        self.note_delivery(at, &mut events, &mut bookmarks);
    }

    /// Processes the object of an event, which belongs to an initial state or is a change after it.
    fn take(&mut self, frame: &WatchFrame) {
        match &mut self.state {
            State::Listing(listing, Some(_)) if frame.event_type == EventType::Deleted => listing.objects.remove(&frame.object),
            State::Listing(listing, Some(_)) => listing.take(&frame.object, &self.objects, self.revision),
            State::Listing(_, None) | State::Listed | State::Watching(_) | State::Waiting => {
                if frame.event_type == EventType::Deleted {
                    self.objects.remove(&frame.object);
                } else {
                    // An event after the initial state is always a change.
                    self.counts.note_news();
                    self.objects.take(&frame.object);
                }
            }
        }
    }

    fn note_delivery(&mut self, at: Timestamp, events: &mut u64, bookmarks: &mut u64) {
        let (events, bookmarks) = (std::mem::take(events), std::mem::take(bookmarks));
        if events + bookmarks == 0 {
            return;
        }
        self.counts.note_delivery(events, bookmarks);
        self.events_rate.note(at, events);
        if events > 0 {
            self.last_event = Some(at);
        }
        if let State::Watching(watching) | State::Listing(_, Some(watching)) = &mut self.state {
            watching.note(at, events, bookmarks);
        }
        self.timeline.push_delivery(at, events, bookmarks, self.revision);
    }

    fn advance(&mut self, at: Timestamp, revision: u64, chosen: Option<Timestamp>) {
        self.revision = Some(revision);
        self.revision_since = at;
        self.revision_chosen = chosen;
        self.end_stuck(at);
    }

    fn initial_events_ended(&mut self, exchange: &Exchange, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        match std::mem::replace(&mut self.state, State::Waiting) {
            State::Listing(mut listing, Some(mut watching)) if watching.exchange == exchange.id => {
                watching.is_listed(at);
                self.timeline.push(at, Happened::InitialEventsEnded { items: listing.items });
                listing.note_answer(exchange);
                self.state = State::Watching(watching);
                self.complete_list(*listing, at, emit);
            }
            other @ (State::Listing(..) | State::Listed | State::Watching(_) | State::Waiting) => self.state = other,
        }
    }

    /// Counts consecutive very short watches.
    fn note_length(&mut self, end: WatchEnd, at: Timestamp) {
        if end != WatchEnd::VeryShort {
            self.counts.note_long_watch();
            return self.spells.end(Trouble::ShortWatches, at);
        }
        if self.counts.note_short_watch() {
            self.spells.begin(Trouble::ShortWatches, at);
        }
    }

    pub(super) fn watch_ended(
        &mut self,
        exchange: &Exchange,
        watching: &Watching,
        at: Timestamp,
        emit: &mut dyn FnMut(ReflectorEvent),
    ) {
        let Some(end) = watching.end(exchange, at) else { return };
        let error = exchange.watch.as_ref().and_then(|watch| watch.error.as_ref());
        let status = error.or(exchange.status.as_ref());
        if let WatchEnd::Refused { status: code } = end {
            self.timeline.push(at, Happened::failed(code, status));
        }
        if let Some((closed, waiting)) = exchange.closed_by_force {
            self.timeline.push(closed, Happened::ClosedByForce { waiting });
        }
        if let Some(reset) = exchange.cache_reset {
            self.timeline.push(reset, Happened::CacheReset);
        }
        self.timeline.push(at, Happened::WatchEnded { end });
        self.end_silence(at, emit);
        self.out_of_sight |= end == WatchEnd::NotObserved;
        let stalled = exchange.stall.was_just_before(at);
        if stalled && matches!(end, WatchEnd::Early | WatchEnd::StreamReset { .. }) {
            self.counts.note_ended_stalled();
        }
        if end == WatchEnd::ByForce {
            self.counts.note_closed_by_force();
            self.spells.happen(Trouble::Stalled, at);
        }
        let stalled = stalled || exchange.closed_by_force.is_some();
        let past = watching.over(end, at, stalled, end.code().map(|code| FailureKind::of(code, status)));
        let past = PastWatch { cache_reset: exchange.cache_reset.is_some(), ..past };
        if past.was_of_use() {
            self.confirm_resume(emit);
            self.useful_watch = Some(past.clone());
            self.interrupted = Some(Interrupted { past: past.clone(), attempts: 0 });
        } else {
            let interrupted = self.interrupted.get_or_insert_with(|| Interrupted { past: past.clone(), attempts: 0 });
            interrupted.attempts = interrupted.attempts.saturating_add(1);
        }
        self.resuming = None;
        self.note_length(end, at);
        self.note_futile(exchange, &past, emit);
        self.past_watch = Some(past);
    }
}
