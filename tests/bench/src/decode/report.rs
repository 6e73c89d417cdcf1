//! What is said of the decoders.

use serde::Serialize;

use super::body::ListKind;
use super::measuring::Measured;
use crate::machine::Machine;
use crate::statistics::Summary;
use crate::table::Table;

/// The budgets: how many times faster than the reference, and bytes a second.
const TIMES: f64 = 10.0;
const BYTES_PER_SECOND: f64 = 2e9;

/// All bodies, a row each.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    schema: &'static str,
    machine: Machine,
    rounds: usize,
    bodies: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    list: ListKind,
    content_type: &'static str,
    content_encoding: &'static str,
    bytes: usize,
    items: u64,
    reference: &'static str,
    times_faster: Option<Summary>,
    bytes_per_second: Option<Summary>,
    reference_bytes_per_second: Option<Summary>,
    peak_bytes: u64,
    reference_peak_bytes: u64,
}

impl Report {
    pub(super) fn of(measured: &[Measured], machine: Machine, rounds: usize) -> Self {
        Self { schema: "watchtap.bench.decode/v1", machine, rounds, bodies: measured.iter().map(Row::of).collect() }
    }

    /// Ratios first.
    pub(super) fn to_markdown(&self) -> String {
        let mut table = Table::new([
            "List",
            "MB",
            "times as fast as the reference",
            "GB/s",
            "GB/s of the reference",
            "memory, KiB",
            "memory of the reference, KiB",
        ]);
        for row in &self.bodies {
            table.row([
                row.list.name().to_owned(),
                format!("{:.1}", float(row.bytes as u64) / 1e6),
                cell(row.times_faster, 1.0),
                cell(row.bytes_per_second, 1e-9),
                cell(row.reference_bytes_per_second, 1e-9),
                format!("{:.0}", float(row.peak_bytes) / 1024.0),
                format!("{:.0}", float(row.reference_peak_bytes) / 1024.0),
            ]);
        }
        let reference = self.bodies.first().map_or("", |row| row.reference);
        format!(
            "{}\nMedian (quartiles) of {} rounds. Reference: `{reference}`, all of the body in one slice; ours: chunks of 64 KiB. Budget: {TIMES:.0} \
             times, {:.0} GB/s, memory independent of size. {}\n\n{}\n",
            table.to_markdown(),
            self.rounds,
            BYTES_PER_SECOND / 1e9,
            self.verdict(),
            self.machine
        )
    }

    fn verdict(&self) -> String {
        let reached = self.bodies.iter().filter(|row| row.is_within_budget()).count();
        format!("Both are reached by {reached} of {} bodies.", self.bodies.len())
    }
}

impl Row {
    fn of(measured: &Measured) -> Self {
        let body = &measured.body;
        let bytes = float(body.bytes.len() as u64);
        let per_second = |seconds: &[f64]| Summary::of(seconds.iter().map(|seconds| bytes / seconds));
        Self {
            list: body.kind,
            content_type: body.content_type,
            content_encoding: body.content_encoding,
            bytes: body.bytes.len(),
            items: body.items,
            reference: measured.reference.name(),
            times_faster: Summary::of_ratios(measured.theirs.iter().copied(), measured.ours.iter().copied()),
            bytes_per_second: per_second(&measured.ours),
            reference_bytes_per_second: per_second(&measured.theirs),
            peak_bytes: measured.our_peak,
            reference_peak_bytes: measured.their_peak,
        }
    }

    fn is_within_budget(&self) -> bool {
        let reaches = |summary: Option<Summary>, least: f64| summary.is_some_and(|summary| summary.median >= least);
        reaches(self.times_faster, TIMES) && reaches(self.bytes_per_second, BYTES_PER_SECOND)
    }
}

fn cell(summary: Option<Summary>, factor: f64) -> String {
    summary.map(|summary| format!("{:.2}", summary.scaled(factor))).unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52 bytes")]
fn float(number: u64) -> f64 {
    number as f64
}
