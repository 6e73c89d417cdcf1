//! Runs a verification: sends the request of each row, and compares the prediction with the witnesses.

use std::time::{Duration, Instant};

use observer_core::k8s::Verb;
use observer_core::routing::{Basis, FromMetrics, RevisionHistory, ServedFrom, ServerProfile, ServerVersion};
use observer_core::time::Timestamp;
use observer_core::verification::{
    Attempt, Counters, Judgement, Known, MetricsPage, ObservedAnswer, Prediction, Row, SHAPES, Shape, Tally, Target, agrees, judge,
    measure,
};
use observer_core::wire::BodyKind;
use tokio::time::sleep;

use super::choice::{self, QUIET_FOR};
use super::failure::VerifyError;
use super::oracles::{Ends, Oracles};
use super::plan::{MOST_ATTEMPTS, Plan, Progress};
use super::result::Verification;
use super::server::{Answered, Server};

/// Minimum length of a control window: a time without own requests, to detect reads of other clients.
const CONTROLLED_FOR: Duration = Duration::from_secs(1);
/// Time after which learned revisions are learned again. It is shorter than the time for which a watch cache certainly keeps a
/// snapshot.
const RELIABLE_FOR: Duration = Duration::from_secs(45);
/// Maximum number of times that counters are read again if they lack the first events of a watch, and the pause in between.
const LATE_LOOKS: u32 = 5;
const LATE_PAUSE: Duration = Duration::from_millis(200);

/// The changes between two metrics pages.
struct Window {
    moved: Counters,
    others: Option<usize>,
}

struct Verifier<'v> {
    server: &'v mut Server,
    oracles: Oracles,
    profile: ServerProfile,
    target: Target,
    known: Known,
    history: RevisionHistory,
    learned_at: Instant,
    started: Instant,
    /// The number of the connection that returned the last page.
    page_from: u32,
    /// The last metrics page, with which the next window begins.
    page: MetricsPage,
}

/// A verification to run.
pub struct Request<'r> {
    /// The resource to use; `None` chooses an idle one.
    pub resource: Option<&'r str>,
    /// The shapes to verify.
    pub shapes: Vec<&'static Shape>,
    /// Applies the user's flags to the server profile.
    pub flags: &'r (dyn Fn(ServerProfile) -> ServerProfile + Sync),
    /// Witnesses in addition to the counters.
    pub oracles: Oracles,
}

/// Verifies the rules on `server`, and passes the progress to `progress`.
pub async fn verify(
    server: &mut Server,
    request: Request<'_>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Verification, VerifyError> {
    let Request { resource, shapes, flags, oracles } = request;
    let server_version = server.version().await?;
    let mut found = FromMetrics::default();
    let scraped = Instant::now();
    let page = server.page(&[], &mut |sample| found.note(sample)).await?;
    let scrape_takes = scraped.elapsed();
    if !page.counts_lists() || counts_by_type(&server_version) {
        return Err(VerifyError::NotCounted { version: server_version });
    }
    let profile = profile(&server_version, found, flags)?;
    let target = if let Some(name) = resource {
        let resource = choice::named(server, name).await?;
        choice::target_of(server, resource).await?
    } else {
        progress(Progress::Choosing(QUIET_FOR));
        choice::quiet(server).await?
    };
    let shapes = shapes_of(&target, shapes)?;
    let plan = Plan::of(&target, &shapes, scrape_takes);
    server.allow(plan.most_requests);
    progress(Progress::Planned(plan));
    let now = Instant::now();
    let mut verifier = Verifier {
        server,
        oracles,
        profile,
        target,
        known: Known::default(),
        history: RevisionHistory::default(),
        learned_at: now,
        started: now,
        page_from: 0,
        page,
    };
    verifier.learn().await?;
    verifier.prove_witnesses().await?;
    let mut rows = Vec::new();
    for (index, shape) in shapes.iter().enumerate() {
        progress(Progress::Row(index + 1, shapes.len(), shape.title));
        rows.push(verifier.row(shape).await?);
    }
    Ok(verifier.finish(server_version, resource.is_none(), rows))
}

/// Whether the server's counters do not distinguish resources. Up to 1.25, reads are counted by Go type (kubernetes/apiserver
/// `pkg/storage/etcd3/store.go`, v0.25).
fn counts_by_type(server_version: &str) -> bool {
    const BY_RESOURCE: u16 = 26;
    server_version.parse::<ServerVersion>().is_ok_and(|version| version.minor() < BY_RESOURCE)
}

/// The shapes that apply to `target`: a cluster-scoped resource has no shapes of a single namespace.
fn shapes_of(target: &Target, shapes: Vec<&'static Shape>) -> Result<Vec<&'static Shape>, VerifyError> {
    let shapes: Vec<&Shape> = shapes.into_iter().filter(|shape| shape.is_of(target)).collect();
    if shapes.is_empty() {
        let reason = "it is cluster-scoped, and no other shape was selected".to_owned();
        return Err(VerifyError::Unsuitable { name: target.resource.to_string(), reason });
    }
    Ok(shapes)
}

/// Makes the profile from the reported version and the facts of a metrics page. The user's flags override both.
fn profile(
    server_version: &str,
    found: FromMetrics,
    flags: &(dyn Fn(ServerProfile) -> ServerProfile + Sync),
) -> Result<ServerProfile, VerifyError> {
    let mut profile = server_version
        .parse::<ServerVersion>()
        .map_or_else(|_unknown| ServerProfile::default(), |version| ServerProfile::of_version(version, Basis::VersionEndpoint));
    // If a flag replaces the server's version, the facts of the metrics page do not apply.
    let given = flags(profile.clone());
    if given.version == profile.version {
        found.add_to(&mut profile);
        profile = flags(profile);
    } else {
        profile = flags(ServerProfile::default());
    }
    if profile.version.is_none() {
        return Err(VerifyError::UnknownVersion { version: server_version.to_owned() });
    }
    Ok(profile)
}

impl Verifier<'_> {
    /// Learns revisions and a continue token. The revision of the cache is learned from the cache, the newest revision from any
    /// layer.
    async fn learn(&mut self) -> Result<(), VerifyError> {
        let collection = Target::collection(&self.target.resource);
        let first_page = self.listed(&format!("{collection}?limit=1")).await?;
        let cached = self.listed(&format!("{collection}?resourceVersion=0")).await?;
        self.learned_at = Instant::now();
        let now = self.now();
        self.known = Known {
            revision: first_page.revision.unwrap_or_default(),
            cached: cached.revision.unwrap_or_default(),
            continue_token: first_page.continue_token,
        };
        self.history.forget();
        self.history.note(self.known.revision, now);
        if self.snapshots_are_gone(&collection, cached.newest_item).await? {
            self.history.forget();
        }
        self.begin().await
    }

    /// Sends a list whose answer must have a revision. Retries while the watch cache is not ready.
    async fn listed(&mut self, request: &str) -> Result<ObservedAnswer, VerifyError> {
        const TIMES: u32 = 20;
        const PAUSE: Duration = Duration::from_millis(500);
        let mut status = 0;
        for _ in 0..TIMES {
            let answer = self.server.ask(request, BodyKind::Document).await?.answer;
            status = answer.status;
            match status {
                200 if answer.revision.is_some() => return Ok(answer),
                429 | 503 => sleep(PAUSE).await,
                _ => break,
            }
        }
        Err(VerifyError::Unsuitable {
            name: self.target.resource.to_string(),
            reason: format!("GET {request} returned {status}, not a list with a resource version"),
        })
    }

    /// Checks that the witnesses work: a plain get of an object reads etcd in every version. If no witness shows that read, later
    /// results would prove nothing.
    async fn prove_witnesses(&mut self) -> Result<(), VerifyError> {
        const PROVED_BY: &str = "get, RV unset";
        if self.profile.is_aggregated(&self.target.resource) {
            return Ok(());
        }
        let shape = SHAPES.iter().find(|shape| shape.title == PROVED_BY);
        let Some(request) = shape.and_then(|shape| shape.request(&self.target, &self.known)) else { return Ok(()) };
        let mut is_counted = false;
        for _ in 0..MOST_ATTEMPTS {
            let ends = self.oracles.ends()?;
            self.server.ask(&request, BodyKind::Document).await?;
            let is_logged = self.oracles.logs_reads(&ends, &self.target.resource)?;
            let Some(window) = self.window(None).await? else { continue };
            is_counted |= window.moved.etcd_gets > 0;
            if is_logged && is_counted {
                return Ok(());
            }
        }
        if is_counted {
            return Err(self.oracles.silent());
        }
        Err(VerifyError::NoWitness { request })
    }

    /// Whether the cache has no snapshots of the resource. A resource without writes since etcd's last compaction has lost all of
    /// its snapshots, even the newest (kubernetes/apiserver `pkg/storage/cacher/watch_cache.go`, v0.34 to v0.37). The revision of
    /// its newest object is then compacted.
    async fn snapshots_are_gone(&mut self, collection: &str, newest_item: Option<u64>) -> Result<bool, VerifyError> {
        const EXPIRED: u16 = 410;
        let exact = format!("{collection}?resourceVersion={}&resourceVersionMatch=Exact", self.known.revision);
        let is_snapshot = self.predict(&exact).is_some_and(|prediction| prediction.verdict.served_from == ServedFrom::Snapshot);
        let (true, Some(newest)) = (is_snapshot, newest_item) else { return Ok(false) };
        let probe = format!("{collection}?resourceVersion={newest}&resourceVersionMatch=Exact&limit=1");
        Ok(self.server.ask(&probe, BodyKind::Document).await?.answer.status == EXPIRED)
    }

    async fn row(&mut self, shape: &'static Shape) -> Result<Row, VerifyError> {
        if self.learned_at.elapsed() > RELIABLE_FOR {
            self.learn().await?;
        }
        let mut attempts = Vec::new();
        let mut asked = None;
        // If the connection is closed, or a new one leads to another server, the row begins again.
        for _ in 0..MOST_ATTEMPTS * 2 {
            let Some(request) = shape.request(&self.target, &self.known) else {
                return Ok(Row::not_provoked(shape, "the server returned no continue token".to_owned()));
            };
            let Some(prediction) = self.predict(&request) else {
                return Ok(Row::not_provoked(shape, "no rule covers this resource".to_owned()));
            };
            match self.attempt(&request, &prediction).await {
                Ok(Some(attempt)) => attempts.push(attempt),
                // Another server answered, and the learned revisions are those of the previous one.
                Ok(None) => self.learn().await?,
                Err(VerifyError::Question(_)) => self.begin().await?,
                Err(error) => return Err(error),
            }
            let judgement = judge(&prediction, &attempts);
            // The snapshots may have been lost since the last check.
            let may_be_gone = prediction.verdict.served_from == ServedFrom::Snapshot && judgement == Judgement::Noisy;
            asked = Some((request, prediction));
            if matches!(judgement, Judgement::Agree | Judgement::Disagree) || attempts.len() == MOST_ATTEMPTS {
                break;
            }
            if may_be_gone {
                self.learn().await?;
            }
        }
        Ok(match asked {
            Some((request, prediction)) if !attempts.is_empty() => Row::asked(shape, request, &prediction, attempts),
            _ => Row::not_provoked(shape, "no answer came from the server whose counters were read before and after".to_owned()),
        })
    }

    /// Sends the request of a row once. Returns `None` if the answer is not from the server whose counters were read.
    async fn attempt(&mut self, request: &str, prediction: &Prediction) -> Result<Option<Attempt>, VerifyError> {
        let began = Instant::now();
        let kind = if prediction.verb == Verb::Watch { BodyKind::Watch } else { BodyKind::Document };
        let before = self.page_from;
        let asked = self.server.ask(request, kind).await?;
        let during = self.server.connection();
        let Some(window) = self.window_after(&asked).await? else { return Ok(None) };
        if during != before && during != self.page_from {
            return Ok(None);
        }
        let measured = measure(prediction, &asked.answer, window.moved);
        let mut attempt =
            Attempt { measured, moved: window.moved, answer: asked.answer, control: None, other_requests: window.others };
        if !agrees(prediction, &measured) {
            sleep(began.elapsed().max(CONTROLLED_FOR)).await;
            attempt.control = self.window(None).await?.map(|control| control.moved);
        }
        Ok(Some(attempt))
    }

    /// Returns the changes since the last page, after the server has counted the initial events of a watch. It counts them when all
    /// are sent, concurrently with the answer, and on a busy machine only after the answer is complete (kubernetes/apiserver
    /// `pkg/storage/cacher/cache_watcher.go` v0.34, `processInterval`).
    async fn window_after(&mut self, asked: &Answered) -> Result<Option<Window>, VerifyError> {
        let audit_id = asked.audit_id.as_deref();
        let Some(mut window) = self.window(audit_id).await? else { return Ok(None) };
        let is_late = |window: &Window| asked.answer.events > 0 && window.moved.initial_events == 0;
        for _ in 0..LATE_LOOKS {
            if !is_late(&window) {
                break;
            }
            sleep(LATE_PAUSE).await;
            let Some(later) = self.window(audit_id).await? else { return Ok(None) };
            let others = window.others.zip(later.others).map(|(before, after)| before + after);
            window = Window { moved: window.moved + later.moved, others };
        }
        Ok(Some(window))
    }

    /// Returns the changes since the last page, or `None` if the server was restarted or is another one. Changes while a page is
    /// written count in the windows before and after it.
    async fn window(&mut self, audit_id: Option<&str>) -> Result<Option<Window>, VerifyError> {
        let (before, ends) = self.next_page().await?;
        let resource = &self.target.resource;
        let moved = self.oracles.witnessed(self.page.counters(resource) - before.counters(resource), resource)?;
        let others = self.oracles.others(resource, audit_id)?;
        self.oracles.begin_at(&ends);
        Ok(before.is_of_the_server_of(&self.page).then_some(Window { moved, others }))
    }

    /// Reads a metrics page, and begins a window with it.
    async fn begin(&mut self) -> Result<(), VerifyError> {
        let (_before, ends) = self.next_page().await?;
        self.oracles.begin_at(&ends);
        Ok(())
    }

    /// Reads the next metrics page. Returns the page before it, and the ends of the logs at the time of the request.
    async fn next_page(&mut self) -> Result<(MetricsPage, Ends), VerifyError> {
        let ends = self.oracles.ends()?;
        let page = self.server.page(std::slice::from_ref(&self.target.resource), &mut |_sample| {}).await?;
        self.page_from = self.server.connection();
        Ok((std::mem::replace(&mut self.page, page), ends))
    }

    fn predict(&self, request: &str) -> Option<Prediction> {
        Prediction::of(request, &self.profile, &self.history, self.now())
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn finish(self, server_version: String, chosen: bool, rows: Vec<Row>) -> Verification {
        Verification {
            server_version,
            assumptions: self.profile.assumptions(),
            profile: self.profile,
            resource: self.target.resource.to_string(),
            chosen,
            witnesses: self.oracles.names(),
            requests: self.server.requests(),
            tally: Tally::of(&rows),
            rows,
        }
    }
}
