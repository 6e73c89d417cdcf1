//! Row after row.

use std::time::{Duration, Instant};

use observer_core::k8s::Verb;
use observer_core::routing::{Basis, FromMetrics, RevisionHistory, ServedFrom, ServerProfile, ServerVersion};
use observer_core::time::Timestamp;
use observer_core::verification::{
    Attempt, Counters, Judgement, Known, MetricsPage, Prediction, Row, Shape, Tally, Target, judge, measure,
};
use observer_core::wire::BodyKind;
use tokio::time::sleep;

use super::choice::{self, QUIET_FOR};
use super::failure::VerifyError;
use super::oracles::Oracles;
use super::plan::{MOST_ATTEMPTS, Plan, Progress};
use super::result::Verification;
use super::server::Server;

/// How long what was learned of revisions is relied upon: less than a cache is sure to hold a snapshot.
const RELIABLE_FOR: Duration = Duration::from_secs(45);

/// What happened between two pages.
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
    /// The connection over which the last page came.
    page_from: u32,
    /// The last page, which is the next row's first.
    page: MetricsPage,
}

/// What is to be verified.
pub struct Request<'r> {
    /// The resource to ask for; `None` looks for one.
    pub resource: Option<&'r str>,
    /// Which shapes.
    pub shapes: Vec<&'static Shape>,
    /// What the user knows of the server.
    pub flags: &'r (dyn Fn(ServerProfile) -> ServerProfile + Sync),
    /// Who witnesses beside the counters.
    pub oracles: Oracles,
}

/// Verifies the rules on `server`.
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
    if !page.counts_lists() {
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
    progress(Progress::Planned(Plan::of(&target, &shapes, scrape_takes)));
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
    let mut rows = Vec::new();
    for (index, shape) in shapes.iter().enumerate() {
        progress(Progress::Row(index + 1, shapes.len(), shape.title));
        rows.extend(verifier.row(shape).await?);
    }
    Ok(verifier.finish(server_version, resource.is_none(), rows))
}

/// The version, what a page tells of it, and above all what the user says.
fn profile(
    server_version: &str,
    found: FromMetrics,
    flags: &(dyn Fn(ServerProfile) -> ServerProfile + Sync),
) -> Result<ServerProfile, VerifyError> {
    let mut profile = server_version
        .parse::<ServerVersion>()
        .map_or_else(|_unknown| ServerProfile::default(), |version| ServerProfile::of_version(version, Basis::VersionEndpoint));
    // With another version in place of the server's own, its page would be of no use.
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
    /// Finds out revisions and a continue token: the cache's revision from the cache, the newest from whoever knows.
    async fn learn(&mut self) -> Result<(), VerifyError> {
        let collection = Target::collection(&self.target.resource);
        let page = self.server.ask(&format!("{collection}?limit=1"), BodyKind::Document).await?.answer;
        let cached = self.server.ask(&format!("{collection}?resourceVersion=0"), BodyKind::Document).await?.answer;
        self.learned_at = Instant::now();
        let now = self.now();
        self.known = Known {
            revision: page.revision.unwrap_or_default(),
            cached: cached.revision.unwrap_or_default(),
            continue_token: page.continue_token,
        };
        self.history.note(self.known.revision, now);
        if self.snapshots_are_gone(&collection, cached.newest_item).await? {
            self.history.forget();
        }
        self.begin().await
    }

    /// A resource that was not written since etcd was last compacted has lost its snapshots, the newest, too
    /// (kubernetes/apiserver `pkg/storage/cacher/watch_cache.go`, v0.34 to v0.37). The revision of its newest object is then compacted.
    async fn snapshots_are_gone(&mut self, collection: &str, newest_item: Option<u64>) -> Result<bool, VerifyError> {
        const EXPIRED: u16 = 410;
        let exact = format!("{collection}?resourceVersion={}&resourceVersionMatch=Exact", self.known.revision);
        let is_snapshot = self.predict(&exact).is_some_and(|prediction| prediction.verdict.served_from == ServedFrom::Snapshot);
        let (true, Some(newest)) = (is_snapshot, newest_item) else { return Ok(false) };
        let probe = format!("{collection}?resourceVersion={newest}&resourceVersionMatch=Exact&limit=1");
        Ok(self.server.ask(&probe, BodyKind::Document).await?.answer.status == EXPIRED)
    }

    /// `None` where the resource has nothing of that shape.
    async fn row(&mut self, shape: &'static Shape) -> Result<Option<Row>, VerifyError> {
        if self.learned_at.elapsed() > RELIABLE_FOR {
            self.learn().await?;
        }
        let Some(request) = shape.request(&self.target, &self.known) else {
            let is_paged = self.known.continue_token.is_some();
            return Ok((!is_paged).then(|| Row::not_provoked(shape, "the server gave no continue token".to_owned())));
        };
        let Some(prediction) = self.predict(&request) else {
            return Ok(Some(Row::not_provoked(shape, "no rule is about this resource".to_owned())));
        };
        let mut attempts = Vec::new();
        // A connection that ends, or another server at its other end, begins the row anew.
        for _ in 0..MOST_ATTEMPTS * 2 {
            match self.attempt(&request, &prediction).await {
                Ok(attempt) => attempts.extend(attempt),
                Err(VerifyError::Question(_)) => self.begin().await?,
                Err(error) => return Err(error),
            }
            let is_settled = matches!(judge(&prediction, &attempts), Judgement::Agree | Judgement::Disagree);
            if is_settled || attempts.len() == MOST_ATTEMPTS {
                break;
            }
        }
        if attempts.is_empty() {
            return Ok(Some(Row::not_provoked(
                shape,
                "no answer came from the server whose counters stand on both sides of it".to_owned(),
            )));
        }
        Ok(Some(Row::asked(shape, request, &prediction, attempts)))
    }

    /// `None` when another server answered than the one whose counters were read.
    async fn attempt(&mut self, request: &str, prediction: &Prediction) -> Result<Option<Attempt>, VerifyError> {
        let began = Instant::now();
        let kind = if prediction.verb == Verb::Watch { BodyKind::Watch } else { BodyKind::Document };
        let before = self.page_from;
        let asked = self.server.ask(request, kind).await?;
        let during = self.server.connection();
        let Some(window) = self.window(asked.audit_id.as_deref()).await? else { return Ok(None) };
        if during != before && during != self.page_from {
            return Ok(None);
        }
        let measured = measure(prediction, &asked.answer, window.moved);
        let mut attempt = Attempt { measured, moved: window.moved, answer: asked.answer, control: None, others: window.others };
        if !prediction.agrees_with(&measured) {
            sleep(began.elapsed()).await;
            attempt.control = self.window(None).await?.map(|control| control.moved);
        }
        Ok(Some(attempt))
    }

    /// What happened since the last page; `None` when the server was started anew, or is another. What comes while the page is written
    /// belongs to both windows beside it.
    async fn window(&mut self, audit_id: Option<&str>) -> Result<Option<Window>, VerifyError> {
        let resource = self.target.resource.clone();
        let ends = self.oracles.ends()?;
        let page = self.server.page(std::slice::from_ref(&resource), &mut |_sample| {}).await?;
        let before = std::mem::replace(&mut self.page, page);
        let moved = self.oracles.witnessed(self.page.counters(&resource) - before.counters(&resource), &resource)?;
        let others = self.oracles.others(&resource, audit_id)?;
        self.oracles.begin_at(&ends);
        self.page_from = self.server.connection();
        Ok((before.started == self.page.started).then_some(Window { moved, others }))
    }

    /// A first page, with which a window begins.
    async fn begin(&mut self) -> Result<(), VerifyError> {
        self.window(None).await.map(drop)
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
