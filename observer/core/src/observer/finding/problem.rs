//! Groups findings into problems. A problem has the findings with one cause, and names the clients, an amount and the change to
//! make.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::advice::{self, END_NOT_LOGGED, PERHAPS_LAGS};
use super::found::Finding;
use crate::exchange::Client;
use crate::finding_kind::FindingKind;
use crate::quantity::{counted, counted_as, microseconds};
use crate::reflector::{ReflectorId, ReflectorRow, Spell};

/// Maximum number of clients, and of resources, that the text of a problem names.
const MOST_NAMES: usize = 4;
/// Maximum number of clients, and of resources, that a problem keeps.
const MOST_KEPT: usize = 32;

/// Findings with the same cause and the same change, over all clients concerned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Kind of its findings.
    pub kind: FindingKind,
    /// Programs concerned, without their versions, those with the largest amount first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<String>,
    /// Resources concerned: `pods`, `deployments.apps`.
    pub resources: Vec<String>,
    /// Amount in the unit of its kind: relists, lists, watches, objects, informers, or microseconds. It is the longest of several
    /// durations, not their sum.
    pub amount: u64,
    /// How often it occurred, since when and until when; `None` if this is not recorded.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub spell: Option<Spell>,
    /// The recommended change, and where to make it.
    pub change: String,
    /// The problem in words, with its amount.
    pub wrong: String,
    /// Identifiers of its findings.
    pub findings: Vec<String>,
}

/// Groups `findings` into problems: ongoing ones first, then by kind, the worst first.
/// `rows` has the reflectors that the findings name.
pub(in crate::observer) fn problems(findings: &[Finding], rows: &[ReflectorRow]) -> Vec<Problem> {
    let clients: BTreeMap<ReflectorId, &Client> = rows.iter().map(|row| (row.reflector, &row.client)).collect();
    let mut alike: BTreeMap<(FindingKind, &str), Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        alike.entry((finding.kind, change_needed(finding))).or_default().push(finding);
    }
    let mut problems: Vec<Problem> =
        alike.into_iter().map(|((kind, _), findings)| Problem::of(kind, &findings, &clients)).collect();
    problems.sort_by_key(|problem| (!problem.lasts(), problem.kind, std::cmp::Reverse(problem.amount)));
    problems
}

/// The advice of a finding, if findings of its kind may need different changes; otherwise empty.
fn change_needed(finding: &Finding) -> &'static str {
    let is_of_several_changes = matches!(
        finding.kind,
        FindingKind::RelistLoop
            | FindingKind::NoBookmarks
            | FindingKind::RelistStorm
            | FindingKind::NeverSynced
            | FindingKind::RefusedRequests
            | FindingKind::ManyWatches
            | FindingKind::ListsFromEtcd
            | FindingKind::FilterAfterReading
    );
    let perhaps_lags = finding.advice == PERHAPS_LAGS;
    if is_of_several_changes || perhaps_lags { finding.advice } else { "" }
}

impl Problem {
    fn of(kind: FindingKind, all: &[&Finding], known: &BTreeMap<ReflectorId, &Client>) -> Self {
        // While some of these last, the text is about them alone.
        let lasting: Vec<&Finding> = all.iter().copied().filter(|finding| is_state(kind) && finding.lasts()).collect();
        let findings = if lasting.is_empty() { all } else { &lasting };
        let amount = kind.together(findings.iter().map(|finding| finding.amount));
        let (clients, resources) = (programs(findings, known), resources(findings));
        let advice = findings.first().map_or(kind.advice(), |finding| finding.advice);
        let spell = all.iter().filter_map(|finding| finding.spell).reduce(Spell::and);
        let lasts = spell.is_some_and(Spell::lasts);
        let (change, wrong) = words(kind, &Parts { clients: &clients, resources: &resources, amount, advice, lasts });
        Self {
            kind,
            clients: clients.into_iter().take(MOST_KEPT).collect(),
            resources: resources.into_iter().take(MOST_KEPT).collect(),
            amount,
            spell,
            change,
            wrong,
            findings: all.iter().map(|finding| finding.id.clone()).collect(),
        }
    }

    /// Whether it is ongoing.
    pub fn lasts(&self) -> bool {
        self.spell.is_some_and(Spell::lasts)
    }
}

/// Whether findings of this kind are about the present, and not about everything that happened.
const fn is_state(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::StuckReflector
            | FindingKind::DeafWatch
            | FindingKind::WatchAheadOfServer
            | FindingKind::ExpiredLoop
            | FindingKind::SilentExpired
            | FindingKind::NeverSynced
            | FindingKind::RefusedRequests
            | FindingKind::WideInformer
    )
}

/// The parts from which the text of a problem is made.
struct Parts<'p> {
    clients: &'p [String],
    resources: &'p [String],
    amount: u64,
    advice: &'p str,
    lasts: bool,
}

/// Returns [`Problem::change`] and [`Problem::wrong`]. If the problem is over, the change does not include a restart now.
#[expect(clippy::too_many_lines, reason = "one arm for each kind")]
fn words(kind: FindingKind, parts: &Parts<'_>) -> (String, String) {
    let Parts { clients, resources, amount, advice, lasts } = *parts;
    let (of, what) = (names(clients), names(resources));
    match kind {
        FindingKind::StuckReflector if lasts => (
            format!("restart {of}, and update client-go there to 1.18.6 or later"),
            format!("stuck for {} at a revision that the API server has not reached ({what})", microseconds(amount)),
        ),
        FindingKind::StuckReflector => (
            format!("update client-go in {of} to 1.18.6 or later"),
            format!("was stuck for {} at a revision that the API server had not reached ({what})", microseconds(amount)),
        ),
        FindingKind::DeafWatch if advice == PERHAPS_LAGS => (
            short(advice),
            format!("watches of {what} by {of} delivered nothing for {}, although etcd had newer objects", microseconds(amount)),
        ),
        FindingKind::DeafWatch if lasts => (
            format!("restart {of}, and enable detection of dead connections there (pings, keepalive or a read timeout)"),
            format!(
                "open watches of {what} have delivered nothing for {}, although others got newer objects or bookmarks",
                microseconds(amount)
            ),
        ),
        FindingKind::DeafWatch => (
            format!("enable detection of dead connections in {of} (pings, keepalive or a read timeout)"),
            format!(
                "watches of {what} delivered nothing for {}, although others got newer objects or bookmarks",
                microseconds(amount)
            ),
        ),
        FindingKind::WatchAheadOfServer if lasts => (
            format!("restart {of}"),
            format!("watches of {what} have waited {} for a revision that the API server has not reached", microseconds(amount)),
        ),
        FindingKind::WatchAheadOfServer => (
            format!("restart {of} after each restore of etcd"),
            format!("watches of {what} waited {} for a revision that the API server had not reached", microseconds(amount)),
        ),
        FindingKind::ExpiredLoop => (
            format!("in {of}, relist after a 410 instead of watching from the same revision"),
            format!("{} of {what} in a row were answered with 410", counted_as(amount, "watch", "watches")),
        ),
        FindingKind::SilentExpired => (
            format!("in {of}, relist after a watch that ends at once without an event"),
            format!("{} of {what} in a row from a revision that etcd has compacted", counted_as(amount, "watch", "watches")),
        ),
        FindingKind::NeverSynced => (
            if advice == kind.advice() {
                format!(
                    "in {of}, disable streaming lists (WatchListClient); then find the proxy that drops bookmarks or cuts streams"
                )
            } else {
                format!("in {of}, disable streaming lists (WatchListClient), which this API server does not support")
            },
            format!("{} of {what} did not get the bookmark that ends them", counted(amount, "streaming list")),
        ),
        FindingKind::RefusedRequests => {
            let (change, status) = advice::words_of_refused(advice, (&of, &what, clients.len() == 1));
            (
                change,
                format!(
                    "{} of {what} answered {status}, one after another",
                    counted_as(amount, "list or watch", "lists or watches")
                ),
            )
        }
        FindingKind::ServerErrors => (short(advice), format!("{} of {what} answered with 5xx", counted(amount, "request"))),
        FindingKind::HotLoop => (
            format!("in {of}, pause between lists, or watch"),
            format!("{} of {what}, less than a second apart", counted(amount, "list")),
        ),
        FindingKind::RelistLoop if advice == END_NOT_LOGGED => (
            format!("{} ({of})", short(advice)),
            format!("{} of {what} after watches whose end is not logged", counted(amount, "relist")),
        ),
        FindingKind::RelistLoop => (short(advice), format!("{} of {what} by {of}", counted(amount, "needless relist"))),
        FindingKind::ShortWatches => (
            format!("raise the timeouts of the proxy or load balancer between {of} and the API server"),
            format!("{} of {what} in a row ended within a second", counted_as(amount, "watch", "watches")),
        ),
        FindingKind::SlowReader => (
            format!("in {of}, move other work out of the loop that reads the watch"),
            match amount {
                // Of logs, which show the end that the server made of it.
                0 => format!("the API server closed watches of {what} by force"),
                _ => format!("no events of {what} were read for {}", microseconds(amount)),
            },
        ),
        FindingKind::NoBookmarks => {
            let change = if advice == kind.advice() { "set allowWatchBookmarks=true".to_owned() } else { short(advice) };
            (format!("in {of}, {change}"), format!("{} of {what}", counted(amount, "needless relist")))
        }
        FindingKind::RefusedMisread => (
            format!("update client-go in {of} to 1.16 or later"),
            format!("{} after refused connections", counted(amount, "needless relist")),
        ),
        FindingKind::NoResume => (
            format!("in {of}, resume watches from the last resourceVersion instead of relisting"),
            format!("{} of {what} after watches that had ended normally", counted(amount, "needless relist")),
        ),
        FindingKind::FullStateByWatch => (
            format!("in {of}, watch from the last resourceVersion"),
            format!("{} of {what} by watches without a resourceVersion", counted(amount, "needless relist")),
        ),
        FindingKind::ContinueExpired => (
            format!("in {of}, read lists faster, or in fewer pages"),
            format!("{} of {what} started over", counted(amount, "list")),
        ),
        FindingKind::RelistStorm => (short(advice), format!("{} by {of} at the same time", counted(amount, "relist"))),
        FindingKind::CacheReset => (
            "find out why the API server restarted, or why its watch cache was reset".to_owned(),
            format!("{} of {what} by {of}", counted(amount, "relist")),
        ),
        FindingKind::Poller => {
            (format!("in {of}, watch instead of polling"), format!("{} of {what}, no watch", counted(amount, "list")))
        }
        FindingKind::GetPoller => {
            (format!("in {of}, watch instead of repeating gets"), format!("{} of {what}", counted(amount, "get")))
        }
        FindingKind::DuplicateInformers => (
            format!("in {of}, share one informer factory"),
            format!("{} of {what} at once in one process", counted(amount, "informer")),
        ),
        FindingKind::StreamingListRefused => {
            (format!("in {of}, disable WatchListClient"), format!("{} of {what} refused", counted(amount, "streaming list")))
        }
        FindingKind::ConsistentReadFellBack => (
            "find out why the API server's watch cache lags behind etcd".to_owned(),
            format!("{} of {what} by {of} waited 3 s or more for it, and then perhaps read etcd", counted(amount, "list")),
        ),
        // Of logs, which have no number of objects.
        FindingKind::ListsFromEtcd if amount == 0 => (short(advice), format!("lists of {what} by {of} read etcd, and took long")),
        FindingKind::ListsFromEtcd => {
            (short(advice), format!("{} of {what} read from etcd by lists of {of}", counted(amount, "object")))
        }
        FindingKind::FilterAfterReading => {
            let change =
                if advice == kind.advice() { "list with resourceVersion=0, or keep an informer".to_owned() } else { short(advice) };
            (
                format!("in {of}, {change}"),
                format!("{} of {what} with a selector, each of which read all objects from etcd", counted(amount, "list")),
            )
        }
        FindingKind::ClientRateLimit => (format!("raise QPS and Burst in {of}"), "throttled by its own rate limit".to_owned()),
        FindingKind::RevisionWentBack => (
            "check whether etcd was restored, or whether the API server's address is load-balanced over several clusters"
                .to_owned(),
            format!("resourceVersion went backwards in {} by {of}", counted(amount, "list")),
        ),
        FindingKind::OlderState => (
            format!("in {of}, list without resourceVersion=0 where stale data is harmful"),
            format!("{} of {what} returned an older state than the client had", counted(amount, "list")),
        ),
        FindingKind::Rollout => (
            format!("roll {of} out in smaller steps"),
            format!("{} of {what} listed by clients that started at the same time", counted(amount, "object")),
        ),
        FindingKind::SlowSync => (
            format!("raise QPS and Burst in {of}"),
            format!("the informers took {} to sync, at least half of it in the client's rate limit", microseconds(amount)),
        ),
        FindingKind::ManyWatches => {
            let change =
                if advice == kind.advice() { "watch a namespace instead of each object".to_owned() } else { short(advice) };
            let open = counted_as(amount, "open watch", "open watches");
            (format!("in {of}, {change}"), format!("{open} of single objects ({what})"))
        }
        FindingKind::WideInformer => (
            format!("restrict the informers of {of} to the namespaces or labels that it needs, or to metadata"),
            format!("{} of {what} kept in full", counted(amount, "object")),
        ),
        FindingKind::IgnoredLimit => (
            format!("in {of}, list without resourceVersion=0 where pages are needed"),
            format!("{} of {what} returned everything in one response, despite a limit", counted(amount, "list")),
        ),
    }
}

/// The first clause of `advice`, with a lower-case initial, for use within a line.
fn short(advice: &str) -> String {
    let clause = advice.split([':', ';', '(', ',']).next().unwrap_or_default().split(". ").next().unwrap_or_default();
    let mut letters = clause.trim().trim_end_matches('.').chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// Programs without their versions, those with the largest amount first.
fn programs(findings: &[&Finding], known: &BTreeMap<ReflectorId, &Client>) -> Vec<String> {
    let mut amounts: BTreeMap<String, u64> = BTreeMap::new();
    for finding in findings {
        let clients: Vec<&Client> = match &finding.client {
            Some(client) => vec![client],
            None => finding.reflectors.iter().filter_map(|id| known.get(id).copied()).take(MOST_KEPT).collect(),
        };
        for client in clients {
            let amount = amounts.entry(name(client)).or_default();
            *amount = amount.saturating_add(finding.amount);
        }
    }
    let mut names: Vec<_> = amounts.into_iter().collect();
    names.sort_by_key(|(name, amount)| (std::cmp::Reverse(*amount), name.clone()));
    names.into_iter().map(|(name, _)| name).collect()
}

/// The program without its version. If the name is empty or only the default of a library, the client's ServiceAccount follows:
/// `manager (apps/operator)`.
fn name(client: &Client) -> String {
    let program = client.program_name();
    let shown = if program.is_empty() { "an unnamed client" } else { program };
    client.user_of_unnamed().map_or_else(|| shown.to_owned(), |user| format!("{shown} ({user})"))
}

fn resources(findings: &[&Finding]) -> Vec<String> {
    findings.iter().map(|finding| finding.shape.resource.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// `a`, `a and b`, `a, b and c`, `a, b, c, d and 3 more`.
fn names(all: &[String]) -> String {
    let more = all.len().saturating_sub(MOST_NAMES);
    let mut words: Vec<String> = all.iter().take(MOST_NAMES).cloned().collect();
    if more > 0 {
        words.push(format!("{more} more"));
    }
    match words.split_last() {
        None => "clients".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Identity;

    #[test]
    fn names_are_joined_and_bounded() {
        let all: Vec<String> = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
        let joined: Vec<String> = [0, 1, 2, 3, 6].into_iter().map(|many| names(&all[..many])).collect();
        assert_eq!(joined, ["clients", "a", "a and b", "a, b and c", "a, b, c, d and 2 more"]);
    }

    #[test]
    fn default_names_of_libraries_are_followed_by_the_service_account() {
        let identity = Some(Identity::ServiceAccount { namespace: "apps".to_owned(), name: "operator".to_owned() });
        let named = |program: &str| name(&Client { program: program.to_owned(), identity: identity.clone(), ..Client::default() });
        assert_eq!(named("manager/v0.0.0"), "manager (apps/operator)");
        assert_eq!(named(""), "an unnamed client (apps/operator)");
        assert_eq!(named("kubelet/v1.34"), "kubelet");
        assert_eq!(name(&Client { program: "manager".to_owned(), ..Client::default() }), "manager");
    }

    #[test]
    fn first_clause_of_every_advice_is_short() {
        for kind in FindingKind::ALL.iter().copied() {
            let clause = short(kind.advice());
            assert!((10..=110).contains(&clause.len()) && !clause.ends_with('.'), "{clause}");
        }
    }
}
