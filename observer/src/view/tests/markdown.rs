//! Reports in Markdown, and their bound of 60 lines.

use std::sync::Arc;

use expect_test::expect;
use observer_core::observer::{Comparison, Excess, FindingKind, Limited, Quantity, Snapshot};
use proptest::prelude::*;

use super::super::page::tests::script::play;
use super::super::page::tests::stories::{storm, trouble};
use super::super::*;

/// The number of lines that a document may have.
const MOST_LINES: usize = 60;

#[test]
fn report_begins_with_the_budget_and_ends_with_the_worst_problem() {
    let run = Run { budget: Some(exceeded(2)), notes: vec!["a note".to_owned()], ..run() };
    expect![[r"
        **budget exceeded: 2 limits.** **3 problems, 2 of them ongoing.** 1 of 22 lists served from etcd (2 objects, 2.1 MB) · 1 get from etcd (9.0 kB) · 2 relists · 0 storms · 4 watches · 27 requests · 17 MB

        - `watchtap exec: ./my-controller`, 5 m 51 s, API server: version v1.30.4 (/version); feature gates: defaults assumed
        - **Not observed:** nothing · **unparsed:** nothing
        - note: a note

        | budget | quantity | allowed | used | more |
        | --- | --- | ---: | ---: | ---: |
        | `kind0s` | bytes | 1.0 kB | **5.0 kB** | +4.0 kB |
        | `deaf-watch` | findings | 1,000 | **5,000** | +4,000 |

        | problem | evidence | change to make | findings | when |
        | --- | --- | --- | ---: | --- |
        | `stuck-reflector` | stuck for 3 m 17 s at a revision that the API server has not reached (secrets) | restart elastic-operator, and update client-go there to 1.18.6 or later | 1 | since 12:02:34 |
        | `wide-informer` | 3 objects of pods kept in full | restrict the informers of my-controller to the namespaces or labels that it needs, or to metadata | 1 | since 12:00:00 |
        | `no-bookmarks` | 1 needless relist of pods | in my-controller, set allowWatchBookmarks=true | 1 | 12:03:21 |

        ### Finding `stuck-reflector:elastic-operator/1.18.2:secrets/kube-system/`

        **Observed:** elastic-operator/1.18.2 secrets kube-system/: requests revision 1100 repeatedly; the server has not reached it (since 12:02:34). Timeline, in UTC:

        - 12:03:23.000 requests a list, RV=1100
        - 12:03:26.000 504 Timeout
        - 12:03:27.000 requests a list, RV=1100
        - 12:03:30.000 504 Timeout
        - 12:03:31.000 requests a list, RV=1100
        - 12:03:34.000 504 Timeout

        **Cost:** lasted 3 m 17 s; in the entire run, its reflector sent 17 list requests, which returned 2 objects; its lists and watches delivered 2 objects (0 unchanged) in 90 kB.

        **API server version v1.30.4:** verdict: refused, rule `list-rv` (a resourceVersion without limit: the watch cache answers once it has reached that revision, or 504 after 3 s); see `docs/findings.md#stuck-reflector`.

        **Change:** Restart the client, which helps at once. Then update client-go to 1.18.6 or later, which lists without a resource version after this error.

        **Repeat the request:**

        ```sh
        kubectl get --raw '/api/v1/namespaces/kube-system/secrets?resourceVersion=1100'
        ```
    "]].assert_eq(report_markdown(&run, &play(&trouble())).as_str());
}

#[test]
fn report_of_a_storm_without_problems_has_a_note_on_it() {
    let snapshot = Snapshot::clone(&play(&storm()));
    let kinds: Vec<String> = snapshot.findings.iter().map(|finding| format!("{}:", finding.kind)).collect();
    let report = report_markdown(&run(), &snapshot.without_findings(&kinds)).into_string();
    assert!(report.contains("| storm | trigger |") && report.contains("### Storm 1"), "{report}");
}

#[test]
fn silent_run_states_why_nothing_was_observed() {
    let run = Run { silence: vec!["No client connected.".to_owned()], ..run() };
    let report = report_markdown(&run, &play("0s server v1.34.4")).into_string();
    assert_eq!(report.lines().next(), Some("No client connected."), "{report}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn markdown_never_exceeds_sixty_lines(
        copies in 1_usize..30,
        of_storms in any::<bool>(),
        muted in any::<bool>(),
        faulty in any::<bool>(),
        limits in 0_usize..30,
        notes in 0_usize..30,
    ) {
        let fault = if faulty { "\n1s fault restart for=3s: the API server restarts\n2s fault compact\n" } else { "" };
        let mut snapshot = crowded(&(if of_storms { storm() } else { trouble() } + fault), copies);
        if muted {
            let kinds: Vec<String> = snapshot.findings.iter().map(|finding| format!("{}:", finding.kind)).collect();
            snapshot = snapshot.without_findings(&kinds);
        }
        let notes = vec!["a note".to_owned(); notes];
        let run = Run { budget: Some(exceeded(limits)), notes: notes.clone(), ..run() };
        let nothing = play("0s server v1.34.4");
        for document in [
            report_markdown(&run, &snapshot),
            comparison_markdown(["a", "b"], &notes, &Comparison::of(&nothing, &snapshot)),
            comparison_markdown(["a", "b"], &notes, &Comparison::of(&snapshot, &nothing)),
        ] {
            let lines = document.as_str().lines().count();
            prop_assert!((5..=MOST_LINES).contains(&lines), "{} lines:\n{}", lines, document.as_str());
        }
    }
}

/// The snapshot of `script` with `copies` of everything that a report lists.
fn crowded(script: &str, copies: usize) -> Snapshot {
    let mut snapshot = Snapshot::clone(&play(script));
    let all: Arc<Snapshot> = Arc::new(snapshot.clone());
    for copy in 0..copies {
        for finding in &all.findings {
            let mut finding = finding.clone();
            finding.id = format!("{}-{copy}", finding.id);
            finding.shape.resource = format!("{}-{copy}", finding.shape.resource);
            snapshot.findings.push(finding);
        }
        for (kind, row) in all.reflectors.iter().enumerate() {
            let mut row = row.clone();
            row.causes.insert(format!("watch-error/{kind}{copy}"), 1);
            snapshot.reflectors.push(row);
        }
        for row in &all.lists {
            let mut row = row.clone();
            row.shape.resource = format!("{}-{copy}", row.shape.resource);
            snapshot.lists.push(row);
        }
        snapshot.problems.extend(all.problems.iter().cloned());
        snapshot.storms.extend(all.storms.iter().cloned());
        snapshot.faults.times += all.faults.times;
        snapshot.faults.latest.extend(all.faults.latest.iter().cloned());
        snapshot.missed.unrecorded_spans.push(observer_core::observer::Unrecorded { observations: None, from: None, until: None });
    }
    snapshot.missed.connect_failures = 1;
    snapshot
}

fn exceeded(limits: usize) -> BudgetKept {
    let limited = |number| match number % 2 {
        0 => Limited::Cost { resource: Some(format!("kind{number}s")), quantity: Quantity::Bytes },
        _ => Limited::Findings { finding: FindingKind::DeafWatch },
    };
    let excess = |number| Excess { limited: limited(number), allowed: 1_000, used: 5_000 };
    BudgetKept { exceeded: (0..limits).map(excess).collect(), at_least: false }
}

fn run() -> Run {
    Run {
        subcommand: "exec",
        command: vec!["./my-controller".to_owned()],
        exit_code: Some(0),
        silence: Vec::new(),
        budget: None,
        log: None,
        notes: Vec::new(),
    }
}
