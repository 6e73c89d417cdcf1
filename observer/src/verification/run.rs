//! Row after row.

use std::time::{Duration, Instant};

use observer_core::logs::{AuditEvent, EtcdRequest, RangeRead};
use observer_core::routing::{Basis, FromMetrics, RevisionHistory, ServedFrom, ServerProfile, ServerVersion};
use observer_core::time::Timestamp;
use observer_core::verification::{
    Attempt, Counters, Judgement, Known, MetricsPage, Prediction, Row, SHAPES, Shape, Tally, Target, judge, measure,
};
use observer_core::wire::BodyKind;
use serde::Serialize;
use tokio::time::sleep;

use super::choice::{self, QUIET_FOR};
use super::failure::VerifyError;
use super::log_tail::LogTail;
use super::server::Server;

/// Times that a row is asked which does not agree.
const MOST_ATTEMPTS: usize = 3;
/// How long what was learned of revisions is relied upon: less than a cache is sure to hold a snapshot.
const RELIABLE_FOR: Duration = Duration::from_secs(45);
/// Requests before the first row: version, three pages, discovery or a look at some resources, the revisions.
const REQUESTS_BEFORE: u32 = 20;

/// Better witnesses than counters.
#[derive(Debug, Default)]
pub struct Oracles {
    /// The API server's audit log: who else asked.
    pub audit_log: Option<LogTail>,
    /// etcd's log at level debug: which keys were read.
    pub etcd_log: Option<LogTail>,
}

/// What will be done, said before it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The resource.
    pub resource: String,
    /// Rows.
    pub shapes: usize,
    /// Requests, if every row agrees at once.
    pub requests: u32,
    /// Requests at most.
    pub most_requests: u32,
    /// About how long it takes.
    pub takes: Duration,
}

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A quiet resource is looked for.
    Choosing(Duration),
    /// Now it begins.
    Planned(Plan),
    /// A row is asked: which, of how many.
    Row(usize, usize, &'static str),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Verification {
    /// What the server says it is.
    pub server_version: String,
    /// What the rules were told of it.
    pub profile: ServerProfile,
    /// The same in words.
    pub assumptions: Vec<String>,
    /// The resource.
    pub resource: String,
    /// Whether it was looked for, and nobody else read it then.
    pub chosen: bool,
    /// Who witnessed what the server did.
    pub witnesses: Vec<&'static str>,
    /// Requests that were made.
    pub requests: u32,
    /// Each shape.
    pub rows: Vec<Row>,
    /// All shapes.
    pub tally: Tally,
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
    /// The last page, which is the next row's first.
    page: MetricsPage,
}

/// Verifies the rules on `server`. `flags` says what the user knows of it; `resource` names the one to ask for.
pub async fn verify(
    server: &mut Server,
    resource: Option<&str>,
    oracles: Oracles,
    flags: &(dyn Fn(ServerProfile) -> ServerProfile + Sync),
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Verification, VerifyError> {
    let server_version = server.version().await?;
    let mut found = FromMetrics::default();
    let scraped = Instant::now();
    let page = server.page(&[], &mut |sample| found.note(sample)).await?;
    let scrape_takes = scraped.elapsed();
    if !page.counts_lists() {
        return Err(VerifyError::NotCounted { version: server_version });
    }
    let profile = profile(&server_version, found, flags)?;
    let target = match resource {
        Some(name) => {
            let resource = choice::named(server, name).await?;
            choice::target_of(server, resource).await?
        }
        None => {
            progress(Progress::Choosing(QUIET_FOR));
            choice::quiet(server).await?
        }
    };
    progress(Progress::Planned(plan(&target, scrape_takes)));
    let page = server.page(std::slice::from_ref(&target.resource), &mut |_sample| {}).await?;
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
        page,
    };
    verifier.learn().await?;
    let mut rows = Vec::new();
    for (index, shape) in SHAPES.iter().enumerate() {
        progress(Progress::Row(index + 1, SHAPES.len(), shape.title));
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

fn plan(target: &Target, scrape_takes: Duration) -> Plan {
    const WAITED_FOR_A_REVISION: Duration = Duration::from_secs(3);
    const WATCHED: Duration = Duration::from_secs(1);
    let shapes = u32::try_from(SHAPES.len()).unwrap_or(u32::MAX);
    let waits: Duration = SHAPES.iter().filter(|shape| shape.is_waiting()).map(|_| WAITED_FOR_A_REVISION).sum();
    let watches: Duration = SHAPES.iter().filter(|shape| shape.is_watch()).map(|_| WATCHED).sum();
    let attempts = u32::try_from(MOST_ATTEMPTS).unwrap_or(u32::MAX);
    Plan {
        resource: target.resource.to_string(),
        shapes: SHAPES.len(),
        requests: REQUESTS_BEFORE + 2 * shapes,
        // A row with its page, a control window's page, and one more page where another server answered.
        most_requests: REQUESTS_BEFORE + 4 * attempts * shapes,
        takes: waits + watches + scrape_takes * shapes,
    }
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
        let resource = std::slice::from_ref(&self.target.resource);
        self.page = self.server.page(resource, &mut |_sample| {}).await?;
        Ok(())
    }

    /// A resource that was not written since etcd was last compacted has lost its snapshots, the newest, too
    /// (kubernetes/apiserver pkg/storage/cacher/watch_cache.go, v0.34 to v0.37). The revision of its newest object is then compacted.
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
                Err(VerifyError::Question(_)) => {
                    let resource = std::slice::from_ref(&self.target.resource);
                    self.page = self.server.page(resource, &mut |_sample| {}).await?;
                }
                Err(error) => return Err(error),
            }
            let is_settled = matches!(judge(&prediction, &attempts), Judgement::Agree | Judgement::Disagree);
            if is_settled || attempts.len() == MOST_ATTEMPTS {
                break;
            }
        }
        Ok(Some(Row::asked(shape, request, &prediction, attempts)))
    }

    /// `None` when another server answered than the one whose counters were read.
    async fn attempt(&mut self, request: &str, prediction: &Prediction) -> Result<Option<Attempt>, VerifyError> {
        let began = Instant::now();
        for log in [&mut self.oracles.audit_log, &mut self.oracles.etcd_log].into_iter().flatten() {
            log.mark()?;
        }
        let kind = if prediction.verb == observer_core::k8s::Verb::Watch { BodyKind::Watch } else { BodyKind::Document };
        let asked = self.server.ask(request, kind).await?;
        let Some(moved) = self.moved().await? else { return Ok(None) };
        let moved = self.witnessed(moved)?;
        let others = self.others(asked.audit_id.as_deref())?;
        let measured = measure(prediction, &asked.answer, moved);
        let mut attempt = Attempt { measured, moved, answer: asked.answer, control: None, others };
        if !prediction.agrees_with(&measured) {
            sleep(began.elapsed()).await;
            attempt.control = self.moved().await?;
        }
        Ok(Some(attempt))
    }

    /// By how much the counters moved since the last page; `None` when the server was started anew, or is another.
    async fn moved(&mut self) -> Result<Option<Counters>, VerifyError> {
        let resource = &self.target.resource;
        let page = self.server.page(std::slice::from_ref(resource), &mut |_sample| {}).await?;
        let before = std::mem::replace(&mut self.page, page);
        let is_same = before.started == self.page.started;
        Ok(is_same.then(|| self.page.counters(resource) - before.counters(resource)))
    }

    /// What etcd's log says of its own reads is exact.
    fn witnessed(&self, moved: Counters) -> Result<Counters, VerifyError> {
        let Some(log) = &self.oracles.etcd_log else { return Ok(moved) };
        let mut reads: Vec<RangeRead> = Vec::new();
        log.lines(&mut |line| {
            if let Some(EtcdRequest::Range(read)) = EtcdRequest::read(line) {
                reads.push(read);
            }
        })?;
        Ok(moved.with_etcd_reads(&self.target.resource, &reads))
    }

    /// Requests for the resource that are not ours.
    fn others(&self, audit_id: Option<&str>) -> Result<Option<usize>, VerifyError> {
        let Some(log) = &self.oracles.audit_log else { return Ok(None) };
        let resource = self.target.resource.to_string();
        let mut others = 0;
        log.lines(&mut |line| {
            let is_other = |event: &AuditEvent| event.resource == resource && Some(event.audit_id.as_str()) != audit_id;
            others += usize::from(AuditEvent::read(line).as_ref().is_some_and(is_other));
        })?;
        Ok(Some(others))
    }

    fn predict(&self, request: &str) -> Option<Prediction> {
        Prediction::of(request, &self.profile, &self.history, self.now())
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn finish(self, server_version: String, chosen: bool, rows: Vec<Row>) -> Verification {
        let witnesses = [
            Some("its counters"),
            self.oracles.etcd_log.as_ref().map(|_| "etcd's log"),
            self.oracles.audit_log.as_ref().map(|_| "its audit log"),
        ];
        Verification {
            server_version,
            assumptions: self.profile.assumptions(),
            profile: self.profile,
            resource: self.target.resource.to_string(),
            chosen,
            witnesses: witnesses.into_iter().flatten().collect(),
            requests: self.server.requests(),
            tally: Tally::of(&rows),
            rows,
        }
    }
}
