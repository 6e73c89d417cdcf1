//! The measurements as a table.

use anyhow::{Context, Result};
use serde::Serialize;

use crate::machine::Machine;
use crate::statistics::Summary;
use crate::table::Table;

/// Events per second that the Observer must sustain on one core.
const BUDGET: f64 = 50_000.0;

/// The measurements of one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub decode_ns: f64,
    pub total_ns: f64,
    pub parse_ns: f64,
    pub snapshot_ms: f64,
    pub event_bytes: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct Report {
    reflectors: usize,
    /// Peak memory in bytes while the reflectors were created, per reflector. It includes connections, open exchanges and 20
    /// objects each.
    bytes_a_reflector: u64,
    event_bytes: f64,
    decode_ns: Summary,
    total_ns: Summary,
    times_faster_than_a_parse: Summary,
    events_a_second: f64,
    snapshot_ms: Summary,
    machine: Machine,
}

impl Report {
    pub(super) fn of(reflectors: usize, bytes_a_reflector: u64, rounds: &[Round], machine: Machine) -> Result<Self> {
        let summary = |of: fn(&Round) -> f64| Summary::of(rounds.iter().map(of)).context("no rounds");
        let total_ns = summary(|round| round.total_ns)?;
        let parses = rounds.iter().map(|round| round.parse_ns);
        let times = Summary::of_ratios(parses, rounds.iter().map(|round| round.total_ns)).context("no rounds")?;
        Ok(Self {
            reflectors,
            bytes_a_reflector,
            event_bytes: summary(|round| round.event_bytes)?.median,
            decode_ns: summary(|round| round.decode_ns)?,
            total_ns,
            times_faster_than_a_parse: times,
            events_a_second: 1e9 / total_ns.median,
            snapshot_ms: summary(|round| round.snapshot_ms)?,
            machine,
        })
    }

    pub(super) fn to_markdown(&self) -> String {
        let mut table = Table::new(["Quantity", "Figure"]);
        let mut row = |what: &str, figure: String| table.row([what.to_owned(), figure]);
        row("an event, from bytes of HTTP/2 to what is known of its reflector, ns", format!("{:.0}", self.total_ns));
        row("decoding alone (HTTP/2, JSON), ns", format!("{:.0}", self.decode_ns));
        row("times as fast as serde_json::Value reads the same event", format!("{:.2}", self.times_faster_than_a_parse));
        row("events a second on one core", format!("{:.0}", self.events_a_second));
        row("memory of a reflector with 20 objects and its open watch, KiB", format!("{:.1}", kibibytes(self.bytes_a_reflector)));
        row("a snapshot of all, ms", format!("{:.1}", self.snapshot_ms));
        format!(
            "{}\n{} reflectors, events of {:.0} bytes. Budget: {BUDGET:.0} events a second on one core; {}. {}\n",
            table.to_markdown(),
            self.reflectors,
            self.event_bytes,
            if self.events_a_second >= BUDGET { "kept" } else { "not kept" },
            self.machine
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "some kilobytes")]
const fn kibibytes(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}
