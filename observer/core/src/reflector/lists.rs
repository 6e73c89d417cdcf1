//! Changes the state of a reflector when a list is requested or answered.

use super::cause::{RelistCause, UnknownCause};
use super::events::{ListEvent, ReflectorEvent, RelistBegan};
use super::failure::{Failure, FailureKind};
use super::form::Form;
use super::listing::{Listing, Origin};
use super::moment::{Happened, Moment};
use super::naming::{Past, cause};
use super::servers::Refusal;
use super::spells::Trouble;
use super::state::{ClientAge, Context, Reflector, State};
use super::versions::{Repeats, Versions};
use super::watching::Watching;
use crate::exchange::Exchange;
use crate::k8s::{Continue, ListOptions, ResourceVersion};
use crate::time::{Timestamp, microseconds};

impl Reflector {
    /// Processes a request for a list, or for a watch with initial events.
    pub(super) fn lists(&mut self, exchange: &Exchange, context: &Context<'_>, emit: &mut dyn FnMut(ReflectorEvent)) {
        let (at, options) = (exchange.started, &exchange.request.options);
        let is_page = options.continue_token != Continue::Unset;
        self.last_seen = at;
        self.note_age_of_form(options);
        self.end_futile(at, emit);
        if options.ends_state_with_bookmark() {
            self.note_streaming_list(at);
        }
        if !is_page {
            self.polls.list(at);
            self.last_form = Some(Form::of(options));
        }
        let listing = match std::mem::replace(&mut self.state, State::Waiting) {
            State::Listing(listing, _) => self.list_on(listing, exchange, context, emit),
            State::Listed | State::Watching(_) | State::Waiting => Box::new(self.begin_list(exchange, context, emit)),
        };
        let watching = options.watch.then(|| Box::new(Watching::begin(exchange)));
        self.state = State::Listing(listing, watching);
        let resource_version = options.resource_version;
        let what = if options.watch {
            self.counts.note_watch_request();
            self.watched_since_list = true;
            self.polls.watch();
            Happened::WatchAsked { exchange: exchange.id, resource_version, initial_events: true }
        } else {
            self.counts.note_list_request();
            Happened::ListAsked { exchange: exchange.id, resource_version, limit: options.limit, is_page }
        };
        self.timeline.push(at, what);
    }

    /// Continues an incomplete list with another request, or starts another list in its place.
    fn list_on(
        &mut self,
        mut listing: Box<Listing>,
        exchange: &Exchange,
        context: &Context<'_>,
        emit: &mut dyn FnMut(ReflectorEvent),
    ) -> Box<Listing> {
        let options = &exchange.request.options;
        let is_page = options.continue_token != Continue::Unset;
        if is_page && listing.expects_page() {
            listing.next_page(exchange);
            return listing;
        }
        let is_replaced = listing.is_replaced_by(options.watch);
        let has_failed = listing.failure.is_some();
        if is_replaced {
            listing.fallback = listing.failure.as_ref().and_then(|failure| failure.code);
        }
        // Until the first list is complete, any list is an attempt at it.
        if is_replaced || listing.is_tried_again_by(options) || (has_failed && matches!(listing.origin, Origin::Initial)) {
            listing.attempt(exchange);
            return listing;
        }
        if !has_failed {
            // The client does not request the remaining pages.
            self.polls.note_complete();
            let origin = if matches!(listing.origin, Origin::Initial) { Origin::Initial } else { Origin::Plain };
            return Box::new(Listing::begin(origin, exchange));
        }
        self.list_failure = listing.failure;
        Box::new(self.begin_list(exchange, context, emit))
    }

    fn begin_list(&mut self, exchange: &Exchange, context: &Context<'_>, emit: &mut dyn FnMut(ReflectorEvent)) -> Listing {
        let last_list = self.list_failure.as_ref().map_or(self.revision_since, |failure| failure.at);
        // The cause of an expiry lies after the expired revision, and perhaps before the watch that reported the expiry.
        let idle_since = self
            .past_watch
            .as_ref()
            .map_or(last_list, |watch| if watch.failure == Some(FailureKind::Expired) { self.expires_from() } else { watch.ended });
        let refusal = context.refused_between(idle_since, exchange.started);
        let options = &exchange.request.options;
        // Another list may come from a poller. A watch without a revision is never a poller's: it makes the server send all objects
        // again.
        let without_end = options.watch && !options.ends_state_with_bookmark();
        let went_wrong = self.watched_since_list || self.list_failure.is_some() || refusal.is_some();
        let origin = match (self.had_a_list && (self.has_watched() || without_end), went_wrong || without_end) {
            (true, true) => self.begin_relist(exchange, context, refusal, emit),
            (true, false) => Origin::Plain,
            (false, _) => Origin::Initial,
        };
        self.list_failure = None;
        let watch_before = self.past_watch.as_ref().or(self.useful_watch.as_ref()).map(|watch| watch.exchange);
        self.forget_watches();
        self.out_of_sight = false;
        let mut listing = Listing::begin(origin, exchange);
        listing.watch_before = watch_before;
        listing
    }

    fn begin_relist(
        &mut self,
        exchange: &Exchange,
        context: &Context<'_>,
        refusal: Option<Refusal>,
        emit: &mut dyn FnMut(ReflectorEvent),
    ) -> Origin {
        let at = exchange.started;
        let ended = self.past_watch.as_ref().map(|watch| watch.ended);
        let newest = context.server.and_then(|server| server.newest_beside(&self.key.resource));
        let past = Past {
            asked: at,
            list_failure: self.list_failure.as_ref(),
            watch: self.past_watch.as_ref(),
            useful_watch: self.useful_watch.as_ref(),
            revision_chosen: self.revision_chosen,
            revision_since: self.revision_since,
            expires_from: self.expires_from(),
            revisions_since: newest.zip(self.revision).map_or(0, |(newest, own)| newest.saturating_sub(own)),
            refused: refusal.is_some(),
            out_of_sight: self.out_of_sight,
            may_be_another_process: context.client_returned.is_some_and(|returned| ended.is_none_or(|ended| ended <= returned)),
            age: self.age,
        };
        let cause = cause(&past, &exchange.request.options, context.server);
        let may_have_forgotten = cause == RelistCause::Unknown { reason: UnknownCause::AfterRefusal };
        if cause.begins_from_nothing() || may_have_forgotten {
            self.objects = Versions::default();
            self.objects.is_partial = may_have_forgotten;
        } else {
            self.note_age_of_relist(&exchange.request.options);
        }
        let mut evidence = self.timeline.since_last_delivery();
        if let Some(refusal) = refusal {
            let what = Happened::ServerRefused { until: refusal.until };
            let place = evidence.partition_point(|moment| moment.at <= refusal.from);
            evidence.insert(place, Moment { at: refusal.from, what });
        }
        self.note_relist(at, cause);
        emit(ReflectorEvent::RelistBegan(Box::new(RelistBegan {
            at,
            reflector: self.id,
            client_id: self.key.client,
            client: self.client.clone(),
            shape: self.shape.clone(),
            cause,
            server_refused: refusal.is_some(),
        })));
        Origin::Again { cause, evidence }
    }

    /// The earliest time at which its revision can have expired.
    fn expires_from(&self) -> Timestamp {
        let delivered = self.useful_watch.as_ref().map(|watch| watch.ended);
        self.revision_chosen.or(delivered).unwrap_or(self.revision_since)
    }

    fn note_relist(&mut self, at: Timestamp, cause: RelistCause) {
        self.counts.note_relist(at, cause);
        self.spells.happen(Trouble::Relisted(cause), at);
        if let Some(first) = self.counts.loop_since() {
            self.spells.begin(Trouble::RelistLoop, first);
        } else {
            self.spells.end(Trouble::RelistLoop, at);
        }
    }

    pub(super) fn note_list_end(&mut self, exchange: &Exchange, listing: &Listing, at: Timestamp) {
        let what = match &listing.failure {
            Some(Failure { code: Some(code), .. }) => Happened::failed(*code, exchange.status.as_ref()),
            Some(_) => Happened::ListBroke,
            None => {
                let resource_version = exchange.list.as_ref().map(|list| list.resource_version.as_str()).unwrap_or_default();
                Happened::list_came(exchange.amount(exchange.items), resource_version)
            }
        };
        self.timeline.push(at, what);
    }

    /// Completes a list: updates the reflector and reports the list.
    pub(super) fn complete_list(&mut self, listing: Listing, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        let at_least = listing.is_partial || self.objects.is_partial;
        self.counts.note_list(&listing, at_least);
        if listing.fallback.is_some() {
            self.counts.note_fallback();
            emit(ReflectorEvent::FellBack { reflector: self.id });
            self.spells.happen(Trouble::StreamingRefused, at);
        }
        // A list with `resourceVersion=0` may be older if another API server of the same etcd answers (kubernetes issue 59848).
        let asked_for_this = matches!(listing.options.resource_version, ResourceVersion::At(_) | ResourceVersion::Unset);
        if !listing.is_without_end() && listing.revision.is_some() && listing.revision < self.revision {
            if asked_for_this {
                self.counts.note_went_back();
                emit(ReflectorEvent::WentBack { reflector: self.id });
            }
            if asked_for_this {
                self.spells.happen(Trouble::WentBack, at);
            } else if self.pid.is_some() && !listing.origin.cause().is_some_and(RelistCause::begins_from_nothing) {
                // Without a known process, another one may have had the newer state.
                self.spells.happen(Trouble::OlderState, at);
            }
        }
        self.note_synced(at, emit);
        if matches!(listing.origin, Origin::Initial) {
            self.synced.get_or_insert(at);
        }
        if let Some(revision) = listing.revision {
            // A revision that the request names is older than the request. So is the revision of an object in an initial state.
            let named = self.revision_chosen.filter(|_| self.revision == Some(revision));
            let is_older = listing.options.is_exact() || listing.is_without_end();
            self.revision_chosen = if is_older { named } else { Some(listing.chosen) };
            self.listed_revision = self.revision_chosen.map(|chosen| (revision, chosen));
            self.revision = Some(revision);
        }
        // The next watch of a streaming list begins at a later revision.
        let has_unlogged_revision = listing.is_logged && !listing.options.watch && !listing.options.is_exact();
        self.unlogged_revision = has_unlogged_revision.then_some(listing.chosen);
        self.revision_since = at;
        self.end_stuck(at);
        self.forget_watches();
        self.had_a_list = true;
        self.watched_since_list = matches!(self.state, State::Watching(_));
        self.polls.note_complete();
        let list_event = ListEvent {
            at: listing.began,
            ended_at: at,
            reflector: self.id,
            client: self.client.clone(),
            shape: self.shape.clone(),
            cause: None,
            evidence: Vec::new(),
            requests: listing.requests,
            items: self.counts.amount(listing.items),
            bytes: self.counts.amount(listing.bytes),
            served_from: listing.served_from.as_ref().map(|(served_from, ..)| served_from.clone()),
            rule: listing.served_from.as_ref().map(|(_, rule, _)| *rule),
            certainty: listing.served_from.as_ref().map(|(.., certainty)| *certainty),
            took_us: microseconds(at.since(listing.began)),
            repeats: if listing.is_logged { Repeats::UNKNOWN } else { listing.repeats.repeats(at_least) },
            fallback_after: listing.fallback,
            first_request: listing.first,
            watch_before: listing.watch_before,
            list_before: self.last_list.replace(listing.first),
        };
        self.objects = listing.objects;
        self.objects.is_partial = listing.is_partial;
        match listing.origin {
            Origin::Again { cause, evidence } => {
                let relist = Box::new(ListEvent { cause: Some(cause), evidence, ..list_event });
                self.last_relist = Some(relist.clone());
                emit(ReflectorEvent::Relist(relist));
            }
            Origin::Initial if self.has_watched() => emit(ReflectorEvent::InitialList(Box::new(list_event))),
            Origin::Initial => self.first_list = Some(Box::new(list_event)),
            Origin::Plain => {}
        }
    }

    fn note_age_of_form(&mut self, options: &ListOptions) {
        let names_a_revision = matches!(options.resource_version, ResourceVersion::At(_) | ResourceVersion::Invalid);
        if options.ends_state_with_bookmark() {
            self.age = self.age.max(Some(ClientAge::WatchList));
        } else if !options.watch && names_a_revision && options.limit == 0 && options.continue_token == Continue::Unset {
            self.age = self.age.max(Some(ClientAge::From1_18));
        }
    }

    fn note_age_of_relist(&mut self, options: &ListOptions) {
        if !options.watch && options.resource_version == ResourceVersion::Any && options.limit > 0 {
            self.age = self.age.max(Some(ClientAge::Until1_17));
        }
    }
}
