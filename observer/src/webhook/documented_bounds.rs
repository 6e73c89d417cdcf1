//! The bounds in `docs/webhook.md` are those of the constants.

use super::admissions::VALUES_LIMIT;
use super::body::{MOST_BYTES, MOST_BYTES_TOGETHER, TIME_LIMIT};
use super::connections::{ANSWER_LIMIT, HANDSHAKE_LIMIT, HEAD_BYTES, IDLE_LIMIT, MOST_CONNECTIONS, MOST_FIELDS, MOST_KEPT};
use super::pulse::{LATE, LOST};
use super::review::MOST_VALUES;
use super::server::GRACE;
use crate::pod_layout::{MAXIMUM_REFUSAL, MOST_IN_POD};

const DOCUMENT: &str = include_str!("../../../docs/webhook.md");

#[test]
fn documentation_has_the_bounds() {
    let (mib, kib) = (|bytes: usize| format!("{} MiB", bytes >> 20), |bytes: usize| format!("{} KiB", bytes >> 10));
    let rows = [
        ("body of a request", format!("{}, as the API server has it", mib(MOST_BYTES))),
        ("all bodies and answers together", mib(MOST_BYTES_TOGETHER)),
        ("values in a review, and in all that are answered at the same time", thousands(MOST_VALUES)),
        ("time for a body", format!("{} s", TIME_LIMIT.as_secs())),
        ("handshake", format!("{} s", HANDSHAKE_LIMIT.as_secs())),
        ("head of a request", format!("{}, {MOST_FIELDS} fields", kib(HEAD_BYTES))),
        ("idle connection, time for the head of a request", format!("{} s", IDLE_LIMIT.as_secs())),
        ("time until an answer is read", format!("{} s", ANSWER_LIMIT.as_secs())),
        ("connections", MOST_CONNECTIONS.to_string()),
        ("containers of a pod", thousands(MOST_IN_POD)),
        ("text of a refusal", format!("{} characters, printable ASCII", thousands(MAXIMUM_REFUSAL))),
    ];
    for (bound, value) in &rows {
        let row = format!("| {bound} | {value} | ");
        assert!(DOCUMENT.lines().any(|line| line.starts_with(&row)), "docs/webhook.md needs {row}");
    }
    let (_, table) = DOCUMENT.split_once("| Bound | Value | Beyond it |\n|---|---|---|\n").unwrap();
    assert_eq!(table.lines().take_while(|line| line.starts_with('|')).count(), rows.len());
    for part in [
        format!("503 after a wait of {} s", VALUES_LIMIT.as_secs()),
        format!("if {MOST_KEPT} at most have"),
        format!("do not answer for {} s | `/ready` fails; after {} s, `/healthz`", LATE.as_secs(), LOST.as_secs()),
        format!("a body of more than {}, or one that does not arrive within {} s", mib(MOST_BYTES), TIME_LIMIT.as_secs()),
        format!("requests are answered for {} s more", GRACE.as_secs()),
    ] {
        assert!(DOCUMENT.contains(&part), "docs/webhook.md needs `{part}`");
    }
}

/// The number with a comma before its last three digits.
fn thousands(number: usize) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}
