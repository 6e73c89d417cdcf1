//! Two scripts, compared.

use super::*;

#[test]
fn a_run_whose_table_was_full_says_that_not_all_was_seen() {
    let script = list("0s open 1", 1, "/api/v1/pods", "");
    let limits = Limits { rows: 1, ..Limits::default() };
    let [whole, full] = [script.clone(), list(&script, 3, "/api/v1/nodes", "")].map(|script| play(&script, limits).0);
    assert_eq!(full.missed.rows_dropped, 1);
    let comparison = Comparison::of(&full, &whole);
    assert_eq!((comparison.before.unseen, comparison.after.unseen), (true, false));
}

/// `script`, and another list behind it.
fn list(script: &str, stream: u32, url: &str, answer: &str) -> String {
    let answer = if answer.is_empty() { String::new() } else { format!("\n1s 1/{stream} list rv=7 items={answer}") };
    format!("{script}\n1s 1/{stream} GET {url}\n1s 1/{stream} <- 200{answer}\n1s 1/{stream} end")
}
