//! Gets and writes that the API server itself answered with 5xx, by verb and resource.

use std::collections::BTreeMap;

use crate::exchange::{Exchange, Shape};
use crate::k8s::Verb;
use crate::reflector::Spell;
use crate::routing::ServerProfile;
use crate::thresholds::{REFUSED_FOR, SERVER_ERRORS, SERVER_ERRORS_PERCENT};
use crate::time::Timestamp;

/// Maximum number of verbs and resources that are distinguished.
const MOST: usize = 256;

/// All of them, bounded.
#[derive(Debug, Default)]
pub(super) struct ErrorTable(BTreeMap<(Verb, Shape), Errors>);

/// The errors of one verb and resource, over all namespaces.
#[derive(Debug)]
struct Errors {
    present: Series,
    /// The series before it that were long and dense enough.
    past: Option<Spell>,
}

/// Errors that follow each other within [`REFUSED_FOR`].
#[derive(Clone, Copy, Debug)]
struct Series {
    times: u64,
    /// Requests of the same kind that ended during the series, the failed ones included.
    requests: u64,
    since: Timestamp,
    last: Timestamp,
}

/// Errors of one verb and resource.
#[derive(Clone, Debug)]
pub(super) struct ServerErrorRow {
    pub verb: Verb,
    /// The resource, without namespace and options.
    pub shape: Shape,
    /// The series of errors that were long and dense enough.
    pub spell: Spell,
}

impl ErrorTable {
    /// Adds a finished exchange. `profile` is that of its API server.
    pub(super) fn add<'p>(&mut self, exchange: &Exchange, profile: impl FnOnce() -> &'p ServerProfile) {
        let is_error = exchange.status_code().is_some_and(|status| status >= 500);
        if (!is_error && self.0.is_empty()) || !is_answered_by_the_server(exchange) {
            return;
        }
        let (Some(verb), Some((at, _))) = (exchange.verb(), exchange.ended) else { return };
        let key = (verb, Shape { scope: None, options: String::new(), ..Shape::of(exchange) });
        if let Some(errors) = self.0.get_mut(&key) {
            errors.add(at, is_error);
        } else if is_error && self.0.len() < MOST && !exchange.request.resource().is_some_and(|own| profile().is_aggregated(own)) {
            self.0.insert(key, Errors { present: Series::begin(at), past: None });
        }
    }

    /// Those that are long and dense enough, as of `now`.
    pub(super) fn rows(&self, now: Timestamp) -> Vec<ServerErrorRow> {
        let row = |((verb, shape), errors): (&(Verb, Shape), &Errors)| {
            Some(ServerErrorRow { verb: *verb, shape: shape.clone(), spell: errors.spell(now)? })
        };
        self.0.iter().filter_map(row).collect()
    }
}

impl Errors {
    fn add(&mut self, at: Timestamp, is_error: bool) {
        let is_over = at.since(self.present.last) > REFUSED_FOR;
        if is_over && is_error {
            self.past = self.past.into_iter().chain(self.present.spell()).reduce(Spell::and);
            self.present = Series::begin(at);
        } else if !is_over {
            self.present.requests = self.present.requests.saturating_add(1);
            if is_error {
                self.present.times = self.present.times.saturating_add(1);
                self.present.last = at;
            }
        }
    }

    fn spell(&self, now: Timestamp) -> Option<Spell> {
        let lasts = now.since(self.present.last) <= REFUSED_FOR;
        let present = self.present.spell().map(|spell| if lasts { spell.ongoing() } else { spell });
        self.past.into_iter().chain(present).reduce(Spell::and)
    }
}

impl Series {
    const fn begin(at: Timestamp) -> Self {
        Self { times: 1, requests: 1, since: at, last: at }
    }

    /// `None` if it is too short, or if too few of the requests failed.
    fn spell(self) -> Option<Spell> {
        let Self { times, requests, since, last } = self;
        let is_dense = times.saturating_mul(100) >= requests.saturating_mul(SERVER_ERRORS_PERCENT);
        let is_long = times >= SERVER_ERRORS && last.since(since) >= REFUSED_FOR;
        (is_dense && is_long).then(|| Spell::of_moments(times, since, last))
    }
}

/// Whether the server itself answers a get or a write. Health checks fail on purpose, and kubelets and pods answer some requests. For
/// lists and watches, reflectors have the refusals.
fn is_answered_by_the_server(exchange: &Exchange) -> bool {
    let is_list_or_watch = matches!(exchange.verb(), Some(Verb::List | Verb::Watch));
    exchange.request.resource().is_some() && !exchange.request.is_long_running() && !is_list_or_watch
}
