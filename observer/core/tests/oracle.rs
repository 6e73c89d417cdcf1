//! Compares verdicts with two oracles that do not depend on this crate: expectations typed from docs/semantics.md, and counters of
//! real servers.
//!
//! The format of a line is described at the top of `oracle/reference.txt`.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a line that cannot be read should fail loudly")]

use std::collections::BTreeSet;
use std::time::Duration;

use observer_core::k8s::{ListOptions, RequestInfo};
use observer_core::routing::{
    CacheState, EtcdSupport, Fallback, Layer, Question, RevisionHistory, ServedFrom, ServerProfile, Verdict, all_rules, route,
};
use observer_core::time::Timestamp;

/// Number of expectations in `reference.txt`, also stated on its last line.
const REFERENCE_LINES: usize = 554;
/// Number of measurements in `measured.txt`, also stated on its last line.
const MEASURED_LINES: usize = 70;

/// Lines of `reference.txt` that stay as typed but are not checked, each with the reason.
const DISPUTED: [(usize, &str); 1] = [(
    62,
    "from 1.28 on a deletecollection lists with a limit of its own, so that a revision is an exact one (store.go deleteCollectionPageSize); the \
     matrix measured it",
)];

/// Rules that no line of `reference.txt` expects, for the reasons at the end of that file. Unit tests cover them.
const NOT_EXPRESSIBLE: [&str; 18] = [
    "list-exact-ahead-etcd",
    "list-continue-ahead-etcd",
    "list-continue-latest-no-fallback",
    "get-connect-etcd",
    "watch-list-unset-unmarked",
    "watch-list-no-progress",
    "watch-no-initial-unset",
    "refused-by-status",
    "refused-version-no-number",
    "unknown-version",
    "unknown-version-too-old",
    "unknown-patch",
    "unknown-etcd",
    "unknown-scope",
    "unknown-no-rule",
    "unknown-contradicted",
    "unknown-attached-late",
    "shown-by-answer",
];

const NOW: Timestamp = Timestamp::from_nanos(1_700_000_000_000_000_000);

#[test]
fn verdicts_agree_with_the_semantics_reference() {
    let lines = Line::all(include_str!("oracle/reference.txt"), REFERENCE_LINES);
    hold(&lines, |line, verdict| words(verdict) == line.expected);
}

#[test]
fn verdicts_agree_with_the_counters_of_real_servers() {
    let lines = Line::all(include_str!("oracle/measured.txt"), MEASURED_LINES);
    hold(&lines, |line, verdict| {
        let measured = line.expected;
        let is_second_outcome = verdict.otherwise.is_some_and(|otherwise| fallback(otherwise.then) == measured);
        let remains = verdict.served_from.layers().into_iter().any(|remaining| layer(remaining) == measured);
        served_from(&verdict.served_from) == measured || remains || is_second_outcome
    });
}

/// A new rule needs a line in `reference.txt`, or an entry in `NOT_EXPRESSIBLE`.
#[test]
fn reference_covers_every_expressible_rule() {
    let lines = Line::all(include_str!("oracle/reference.txt"), REFERENCE_LINES);
    let given: BTreeSet<&str> = lines.iter().map(|line| line.verdict().rule.as_str()).collect();
    let not_given: Vec<&str> = all_rules().map(|rule| rule.id.as_str()).filter(|id| !given.contains(id)).collect();
    assert_eq!(not_given, NOT_EXPRESSIBLE);
}

/// The columns of one line of an oracle.
struct Line<'t> {
    number: usize,
    text: &'t str,
    server: &'t str,
    assumptions: &'t str,
    request: &'t str,
    expected: &'t str,
}

/// Checks all lines, and fails with a list of those that do not agree with the verdict.
#[track_caller]
fn hold(lines: &[Line<'_>], agrees: impl Fn(&Line<'_>, &Verdict) -> bool) {
    let disputed: BTreeSet<usize> = DISPUTED.iter().map(|(number, _)| *number).collect();
    let failures: Vec<String> = lines
        .iter()
        .filter(|line| !disputed.contains(&line.number))
        .filter_map(|line| {
            let verdict = line.verdict();
            (!agrees(line, &verdict))
                .then(|| format!("{}: {}\n    got {} ({})", line.number, line.text, words(&verdict), verdict.rule))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} lines:\n{}", failures.len(), lines.len(), failures.join("\n"));
}

impl<'t> Line<'t> {
    #[track_caller]
    fn all(text: &'t str, expected: usize) -> Vec<Self> {
        let lines: Vec<Self> = (1..)
            .zip(text.lines())
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(number, line)| Self::parse(number, line))
            .collect();
        let stated = text.lines().last().and_then(|last| last.strip_prefix("# total: ")).expect("last line `# total: N`");
        assert_eq!((lines.len(), stated), (expected, expected.to_string().as_str()));
        lines
    }

    #[track_caller]
    fn parse(number: usize, text: &'t str) -> Self {
        let columns: Vec<&str> = text.split(" | ").collect();
        let [_section, server, assumptions, request, expected] = columns[..] else { panic!("line {number}: {text}") };
        Self { number, text, server, assumptions, request, expected }
    }

    fn verdict(&self) -> Verdict {
        let (method, url) = self.request.split_once(' ').unwrap();
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let options = ListOptions::parse(query);
        let info = RequestInfo::parse(method, path, &options, "");
        let resource = info.resource.clone().unwrap();
        let mut profile = ServerProfile { version: Some(self.server.parse().unwrap()), ..ServerProfile::default() };
        let mut cache = CacheState::Ready;
        let mut seen: Vec<(u64, u64)> = Vec::new();
        for assumption in self.assumptions.split(',').filter(|assumption| *assumption != "-") {
            match assumption.split_once(':') {
                None if assumption == "not-ready" => cache = CacheState::NotReady,
                None if assumption == "uncached" => drop(profile.uncached.insert(resource.to_string())),
                None if assumption == "aggregated" => drop(profile.aggregated.insert(resource.group.clone())),
                Some(("etcd", version)) => profile.etcd = EtcdSupport::Version(version.parse().unwrap()),
                Some(("gate", setting)) => {
                    let (gate, on) = setting.split_once('=').unwrap();
                    profile.gates.insert(gate.parse().unwrap(), on.parse().unwrap());
                }
                Some(("seen", seen_at)) => {
                    let (revision, seconds) = seen_at.split_once('@').unwrap();
                    seen.push((seconds.parse().unwrap(), revision.parse().unwrap()));
                }
                _ => panic!("line {}: assumption {assumption}", self.number),
            }
        }
        assert!(profile.gates_without_effect().is_empty(), "line {}: a gate that cannot be set", self.number);
        let history = history(seen);
        route(&Question { info: &info, options: &options, profile: &profile, cache, history: Some(&history), now: NOW }).unwrap()
    }
}

/// A history of revisions; `seen` holds pairs of seconds before `NOW` and revision.
fn history(mut seen: Vec<(u64, u64)>) -> RevisionHistory {
    let mut history = RevisionHistory::default();
    seen.sort_by_key(|(seconds, _)| std::cmp::Reverse(*seconds));
    for (seconds, revision) in seen {
        let ago = u64::try_from(Duration::from_secs(seconds).as_nanos()).unwrap();
        history.note(revision, Timestamp::from_nanos(NOW.as_nanos() - ago));
    }
    history
}

/// A verdict in the notation of the oracles.
fn words(verdict: &Verdict) -> String {
    let first = served_from(&verdict.served_from);
    verdict.otherwise.map_or_else(|| first.clone(), |otherwise| format!("{first} else {}", fallback(otherwise.then)))
}

fn served_from(served_from: &ServedFrom) -> String {
    match served_from {
        ServedFrom::Cache => layer(Layer::Cache).to_owned(),
        ServedFrom::CacheConsistent => layer(Layer::CacheConsistent).to_owned(),
        ServedFrom::Snapshot => layer(Layer::Snapshot).to_owned(),
        ServedFrom::Etcd => layer(Layer::Etcd).to_owned(),
        ServedFrom::Proxied => layer(Layer::Proxied).to_owned(),
        ServedFrom::Rejected { status, .. } => format!("refused:{status}"),
        ServedFrom::Unknown { remaining, .. } => {
            let remaining: Vec<&str> = remaining.iter().map(|remaining| layer(*remaining)).collect();
            format!("unknown{{{}}}", remaining.join(","))
        }
    }
}

fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Cache => "cache",
        Layer::CacheConsistent => "cache-consistent",
        Layer::Snapshot => "snapshot",
        Layer::Etcd => "etcd",
        Layer::Proxied => "proxied",
        Layer::Rejected => "refused",
    }
}

fn fallback(fallback: Fallback) -> String {
    match fallback {
        Fallback::Etcd => "etcd".to_owned(),
        Fallback::Rejected { status } => format!("refused:{status}"),
        Fallback::ErrorEvent { code } => format!("error-event:{code}"),
    }
}
