//! Comparisons of two runs: relists by cause, findings, storms and unchanged objects.

use std::fmt::Write as _;

use observer_core::observer::{AmountUnit, Change, Comparison, ComparisonRow, Limits, Measure, Snapshot};

use crate::script::play;

/// Relists after the revision of a watch without bookmarks expired.
fn expired(client: &str, times: u64) -> String {
    let mut script = format!(
        "0s server v1.30.4\n0s a connects client={client}\n0s a1 GET /api/v1/pods?resourceVersion=0\n0s a1 whole rv=10 x@5 y@6\n"
    );
    for number in 0..=times {
        let (at, watch, list) = (10 + 300 * number, 4 * number + 3, 4 * number + 5);
        let revision = 10 + 1_000 * number;
        let _infallible =
            writeln!(script, "{at}s a{watch} GET /api/v1/pods?resourceVersion={revision}&watch=true\n{at}s a{watch} opens");
        if number < times {
            let (expires, next) = (at + 290, revision + 1_000);
            let _infallible = writeln!(
                script,
                "{expires}s a{watch} ERROR 410 Expired\n{expires}s a{watch} ends\n\
                 {expires}s a{list} GET /api/v1/pods?resourceVersion={revision}\n{expires}s a{list} whole rv={next} x@5 y@6"
            );
        }
    }
    script
}

/// Twelve reflectors relist at once after a restart of the API server.
fn storm() -> String {
    let mut script = "0s server v1.34.4\n".to_owned();
    for letter in "abcdefghijkl".chars() {
        let _infallible = writeln!(
            script,
            "0s {letter} connects client={letter}/v1\n0s {letter}1 GET /api/v1/pods?resourceVersion=0\n0s {letter}1 whole rv=10 x@5\n\
             1s {letter}3 GET /api/v1/pods?resourceVersion=10&allowWatchBookmarks=true&watch=true\n1s {letter}3 opens\n\
             100s {letter}3 ERROR 410 Expired\n100s {letter}3 ends\n\
             100s {letter}5 GET /api/v1/pods?resourceVersion=10\n100s {letter}5 whole rv=20 x@5"
        );
    }
    script + "130s listening"
}

#[test]
fn relists_findings_and_unchanged_objects_of_a_fixed_client_are_gone() {
    let (before, after) = (snapshot(&expired("controller/v1", 2)), snapshot(&expired("controller/v2", 0)));
    let fixed = Comparison::of(&before, &after);
    let relists: Vec<_> = fixed.relists.iter().map(|row| (row.cause.as_str(), row.change, row.before, row.after)).collect();
    assert_eq!(relists, [("expired/bookmarks-not-requested", Change::Gone, 2, 0)]);
    let [finding] = &fixed.findings[..] else { panic!("{:#?}", fixed.findings) };
    assert_eq!((finding.kind.as_str(), finding.change, finding.unit), ("no-bookmarks", Change::Gone, Some(AmountUnit::Relists)));
    assert_eq!((finding.before.as_ref().map(|side| side.amount), &finding.after), (Some(2), &None));
    for (measure, expected) in [(Measure::Relists, [2, 0]), (Measure::UnchangedObjects, [4, 0]), (Measure::Findings, [1, 0])] {
        assert_eq!(measured(&fixed, measure), (Change::Better, expected));
    }
    let broken = Comparison::of(&after, &before);
    assert_eq!((broken.relists[0].change, broken.findings[0].change), (Change::New, Change::New));
    assert_eq!(measured(&broken, Measure::Findings), (Change::Worse, [0, 1]));
}

#[test]
fn finding_of_another_release_of_the_program_is_the_same_finding() {
    let comparison = Comparison::of(&snapshot(&expired("controller/v1", 1)), &snapshot(&expired("controller/v2", 3)));
    let [finding] = &comparison.findings[..] else { panic!("{:#?}", comparison.findings) };
    let amounts = [&finding.before, &finding.after].map(|side| side.as_ref().map(|side| side.amount));
    assert_eq!((finding.change, amounts), (Change::Worse, [Some(1), Some(3)]));
    assert!(finding.id.contains("controller/v2"), "{}", finding.id);
    assert_eq!(measured(&comparison, Measure::Findings), (Change::Worse, [1, 1]));
    let same = Comparison::of(&snapshot(&expired("controller/v1", 1)), &snapshot(&expired("controller/v2", 1)));
    assert_eq!(same.findings.iter().map(|finding| finding.change).collect::<Vec<_>>(), [Change::Same]);
    assert!(same.measures.iter().all(|row| row.change == Change::Same), "{:#?}", same.measures);
}

#[test]
fn storms_are_compared_by_number_members_and_cost_worst_first() {
    let comparison = Comparison::of(&snapshot("0s server v1.34.4"), &snapshot(&storm()));
    for (measure, after) in [
        (Measure::Storms, 1),
        (Measure::StormReflectors, 12),
        (Measure::StormRelists, 12),
        (Measure::StormObjects, 12),
        (Measure::UnchangedObjects, 12),
    ] {
        assert_eq!(measured(&comparison, measure), (Change::Worse, [0, after]), "{measure}");
    }
    let changes: Vec<Change> = comparison.measures.iter().map(|row| row.change).collect();
    let worse = changes.iter().take_while(|change| **change == Change::Worse).count();
    assert!(worse > 0 && changes[worse..].iter().all(|change| *change == Change::Same), "{changes:?}");
    let gone = Comparison::of(&snapshot(&storm()), &snapshot("0s server v1.34.4"));
    assert_eq!(measured(&gone, Measure::StormReflectors), (Change::Better, [12, 0]));
    assert_eq!((comparison.before.dropped, comparison.after.dropped), (false, false));
}

#[test]
fn writes_and_gets_change_no_measure() {
    let writes = |times: u64| {
        let mut script = "0s server v1.34.4\n0s a connects client=a/v1\n".to_owned();
        for number in 0..times {
            let (patch, get) = (4 * number + 1, 4 * number + 3);
            let _infallible = writeln!(
                script,
                "{number}s a{patch} PATCH /api/v1/namespaces/default/pods/x\n{number}s a{patch} written x@{}\n\
                 {number}s a{get} GET /api/v1/nodes/n\n{number}s a{get} refused 404 NotFound",
                10 + number
            );
        }
        snapshot(&script)
    };
    for (before, after) in [(5, 2), (2, 5), (5, 0), (0, 5)] {
        let comparison = Comparison::of(&writes(before), &writes(after));
        assert!(comparison.measures.iter().all(|row| row.change == Change::Same), "{:#?}", comparison.measures);
        assert_eq!(comparison.rows.len(), 2);
        assert!(comparison.rows.iter().all(ComparisonRow::is_neutral), "{:#?}", comparison.rows);
    }
}

fn measured(comparison: &Comparison, measure: Measure) -> (Change, [u64; 2]) {
    let row = comparison.measures.iter().find(|row| row.measure == measure).unwrap();
    (row.change, [row.before, row.after])
}

fn snapshot(script: &str) -> Snapshot {
    play(script, Limits::default()).0
}
