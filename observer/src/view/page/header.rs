//! The lines above the tables: whether anything is wrong now, of which API server, what was missed, and what a restart would cost.

use std::time::Duration;

use observer_core::observer::{Exposure, Missed, Snapshot};

use super::line::Line;
use super::reflectors::is_stuck;
use crate::view::colour::Tone;
use crate::view::following;
use crate::view::quantity::{bytes, count, counted, length};
use crate::view::report::{connections, not_seen, not_understood};

/// The header over `shown`; `age` is by how much it is older than the newest snapshot, while the picture is frozen.
pub(super) fn lines(shown: &Snapshot, age: Option<Duration>, cells: usize) -> Vec<Line> {
    vec![
        Line::of_phrases(&answer(shown, age), cells),
        Line::of_phrases(&server(shown), cells),
        Line::of_phrases(&missed(&shown.missed), cells),
        Line::of_phrases(&exposure(&shown.exposure), cells),
    ]
}

/// What the person came for, the most urgent first: what has no room is what matters least.
fn answer(snapshot: &Snapshot, age: Option<Duration>) -> Vec<(Tone, String)> {
    let totals = &snapshot.totals;
    let mut phrases: Vec<(Tone, String)> =
        age.map(|age| (Tone::Notable, format!("PAUSED, {} old", length(age)))).into_iter().collect();
    let goes_on = snapshot.storms.iter().filter(|storm| storm.ended.is_none());
    phrases.extend(goes_on.map(|storm| (Tone::Bad, format!("▲ storm {}", following::age(storm.began, snapshot.at)))));
    let stuck = snapshot.reflectors.iter().filter(|row| is_stuck(row)).count() as u64;
    phrases.extend((stuck > 0).then(|| (Tone::Bad, format!("{} stuck", count(stuck)))));
    let tone = if totals.lists_from_etcd > 0 { Tone::Bad } else { Tone::Good };
    phrases.push((tone, format!("etcd {} of {}", share(totals.lists_from_etcd, totals.lists), counted(totals.lists, "list"))));
    let tone = if totals.relists > 0 { Tone::Notable } else { Tone::Plain };
    phrases.push((tone, counted(totals.relists, "relist")));
    let open = snapshot.watches.iter().map(|row| row.open).fold(0, u64::saturating_add);
    phrases.push((Tone::Plain, format!("{} open", counted(open, "watch").replace("watchs", "watches"))));
    phrases.push((Tone::Plain, counted(totals.requests, "request")));
    phrases.push((Tone::Plain, counted(totals.storms, "storm")));
    phrases
}

/// `4.9 %`; of nothing it is `0 %`.
fn share(part: u64, all: u64) -> String {
    let tenths = u128::from(part) * 1_000 / u128::from(all.max(1));
    match (part, tenths) {
        (0, _) => "0 %".to_owned(),
        (_, 0) => "< 0.1 %".to_owned(),
        (_, 1_000) => "100 %".to_owned(),
        (_, tenths) => format!("{}.{} %", tenths / 10, tenths % 10),
    }
}

/// Which API server, and on what its verdicts rest.
fn server(snapshot: &Snapshot) -> Vec<(Tone, String)> {
    let name = (Tone::Heading, "watchtap".to_owned());
    let plain = |text: String| (Tone::Plain, text);
    if snapshot.upstreams.is_empty() {
        let mut phrases = snapshot.profile.assumptions();
        if let Some(first) = phrases.first_mut() {
            first.insert_str(0, "API server ");
        }
        return [name].into_iter().chain(phrases.into_iter().map(plain)).collect();
    }
    let number = counted(snapshot.upstreams.len() as u64, "API server");
    let each = snapshot
        .upstreams
        .iter()
        .map(|one| format!("{}: {}", one.upstream.0, one.profile.assumptions().first().map_or("", String::as_str)));
    [name].into_iter().chain([number].into_iter().chain(each).map(plain)).collect()
}

fn missed(missed: &Missed) -> Vec<(Tone, String)> {
    let phrase = |label: &str, words: &[String]| {
        let tone = if words.is_empty() { Tone::Plain } else { Tone::Bad };
        (tone, format!("{label}: {}", if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }))
    };
    let mut phrases = Vec::new();
    let failed = connections(missed);
    if !failed.is_empty() {
        phrases.push((Tone::Bad, failed));
    }
    if !missed.capture_ended.is_empty() {
        phrases.push((Tone::Bad, format!("the capture ended early: {}", missed.capture_ended)));
    }
    [phrase("not seen", &not_seen(missed)), phrase("not understood", &not_understood(missed))].into_iter().chain(phrases).collect()
}

/// As [`following::exposure`] says it, in phrases.
fn exposure(exposure: &Exposure) -> Vec<(Tone, String)> {
    if exposure.watching == 0 {
        return vec![(Tone::Plain, "on a restart now: nobody watches, so nobody would list again".to_owned())];
    }
    let tone = if exposure.reflectors > 0 { Tone::Notable } else { Tone::Plain };
    let (some, all) = (count(exposure.reflectors), counted(exposure.watching, "reflector"));
    let who = format!("on a restart now: {some} of {all} would list again");
    [who, counted(exposure.items, "item"), bytes(exposure.bytes)].map(|text| (tone, text)).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_rounded_to_nothing_or_to_all() {
        let shares = [(0, 0), (0, 7), (1, 5_000), (1, 41), (40, 41), (9_999, 10_000), (7, 7)].map(|(part, all)| share(part, all));
        assert_eq!(shares, ["0 %", "0 %", "< 0.1 %", "2.4 %", "97.5 %", "99.9 %", "100 %"]);
    }
}
