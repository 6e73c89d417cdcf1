//! The main results of a run, for a report: reads from etcd, relists, storms and other totals.

use observer_core::observer::Snapshot;

use super::colour::Tone;
use super::etcd;
use super::quantity::{bytes, count, counted, counted_as};

/// `3 of 41 lists served from etcd (5,112 objects, 2.1 MB)`, `2 relists`, `0 storms`, …, the most important part first.
pub(super) fn answer(snapshot: &Snapshot) -> Vec<(Tone, String)> {
    let totals = &snapshot.totals;
    let mut parts = vec![(etcd::tone(snapshot.etcd_load()), etcd::lists(totals))];
    parts.extend(etcd::gets(totals).map(|gets| (Tone::Plain, gets)));
    if totals.lists_unknown > 0 {
        parts.push((Tone::Notable, format!("{} with an unknown verdict", count(totals.lists_unknown))));
    }
    let relists = if totals.relists > 0 { Tone::Notable } else { Tone::Plain };
    parts.push((relists, counted(totals.relists, "relist")));
    let storms = if totals.storms > 0 { Tone::Bad } else { Tone::Plain };
    parts.push((storms, counted(totals.storms, "storm")));
    let rest = [counted_as(totals.watches, "watch", "watches"), counted(totals.requests, "request"), bytes(totals.response_bytes)];
    parts.extend(rest.map(|words| (Tone::Plain, words)));
    parts
}
