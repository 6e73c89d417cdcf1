//! Tests of comparisons of two runs, each given by a script.

use super::super::*;
use super::script::play;

#[test]
fn comparison_reports_a_run_with_dropped_rows() {
    let script = list("0s open 1", 1, "/api/v1/pods", "");
    let limits = Limits { rows: 1, ..Limits::default() };
    let [whole, full] = [script.clone(), list(&script, 3, "/api/v1/nodes", "")].map(|script| play(&script, limits).0);
    assert_eq!(full.missed.rows_dropped, 1);
    let comparison = Comparison::of(&full, &whole);
    assert_eq!((comparison.before.unseen, comparison.after.unseen), (true, false));
}

#[test]
fn empty_list_has_the_same_shape_as_a_filled_one() {
    let of = |lists: &[(&str, &str)]| {
        let script = lists
            .iter()
            .zip(1..)
            .fold("0s version v1.34.4\n0s open 1".to_owned(), |script, ((url, items), stream)| list(&script, stream, url, items));
        play(&script, Limits::default()).0
    };
    let empty = of(&[("/api/v1/pods", "0"), ("/api/v1/secrets", "0")]);
    let filled = of(&[("/api/v1/pods", "5"), ("/api/v1/secrets", "0"), ("/api/v1/pods", "0")]);
    for (before, after) in [(&empty, &filled), (&filled, &empty)] {
        let rows = Comparison::of(before, after).rows;
        let counts = |row: &ComparisonRow| [&row.before, &row.after].map(|side| side.as_ref().map_or(0, |side| side.count));
        let mut shown: Vec<_> = rows.iter().map(|row| (row.shape.to_string(), counts(row))).collect();
        shown.sort();
        let pods = if std::ptr::eq(before, &raw const empty) { [1, 2] } else { [2, 1] };
        assert_eq!(shown, [("pods · all namespaces".to_owned(), pods), ("secrets · all namespaces".to_owned(), [1, 1])]);
        assert!(rows.iter().flat_map(|row| [&row.before, &row.after]).flatten().all(|side| side.layers.len() == 1), "{rows:?}");
    }
}

#[test]
fn api_servers_are_distinguished_where_both_runs_have_several() {
    let one = list("0s version v1.34.4 at a\n0s open 1 at a", 1, "/api/v1/pods", "5");
    let two = format!(
        "{one}\n0s version v1.34.4 at b\n0s open 2 at b\n1s 2/1 GET /api/v1/pods\n1s 2/1 <- 200\n1s 2/1 list rv=7 items=5\n1s 2/1 end"
    );
    let [one, two] = [one, two].map(|script| play(&script, Limits::default()).0);
    let shown = |before, after| {
        Comparison::of(before, after).rows.iter().map(|row| (row.shape.to_string(), row.change)).collect::<Vec<_>>()
    };
    assert_eq!(shown(&one, &two), [("pods · all namespaces".to_owned(), Change::Worse)], "two requests, not one");
    let both = ["a", "b"].map(|name| (format!("pods · all namespaces · at {name}"), Change::Same));
    assert_eq!(shown(&two, &two), both);
}

/// `script`, followed by another list.
fn list(script: &str, stream: u32, url: &str, answer: &str) -> String {
    let answer = if answer.is_empty() { String::new() } else { format!("\n1s 1/{stream} list rv=7 items={answer}") };
    format!("{script}\n1s 1/{stream} GET {url}\n1s 1/{stream} <- 200{answer}\n1s 1/{stream} end")
}
