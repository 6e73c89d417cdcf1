//! The report on the decoders.

use serde::Serialize;

use super::body::{Encoding, ListKind};
use super::measuring::Measured;
use crate::machine::Machine;
use crate::statistics::Summary;
use crate::table::Table;

/// The required speed relative to the reference, and the required bytes per second.
#[derive(Clone, Copy, Debug, Serialize)]
struct Budget {
    times: f64,
    bytes_per_second: f64,
}

/// CBOR and gzip have no budget of their own; gzip should cost little more than inflating.
const fn budget(encoding: Encoding) -> Option<Budget> {
    match encoding {
        Encoding::Json => Some(Budget { times: 10.0, bytes_per_second: 2e9 }),
        Encoding::Protobuf => Some(Budget { times: 10.0, bytes_per_second: 5e9 }),
        Encoding::Cbor | Encoding::JsonInGzip => None,
    }
}

/// Memory limit of one decoder, in bytes, for any list.
const PEAK: u64 = 256 * 1024;

/// All bodies, one row each.
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
    encoding: Encoding,
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

    /// Formats the report, with the ratios first.
    pub(super) fn to_markdown(&self) -> String {
        let mut table = Table::new([
            "List",
            "Encoding",
            "MB",
            "Reference",
            "times as fast as the reference",
            "GB/s",
            "GB/s of the reference",
            "memory, KiB",
            "memory of the reference, KiB",
        ]);
        for row in &self.bodies {
            table.row([
                row.list.name().to_owned(),
                row.encoding.name().to_owned(),
                format!("{:.1}", float(row.bytes as u64) / 1e6),
                row.reference.to_owned(),
                cell(row.times_faster, 1.0),
                cell(row.bytes_per_second, 1e-9),
                cell(row.reference_bytes_per_second, 1e-9),
                format!("{:.0}", float(row.peak_bytes) / 1024.0),
                format!("{:.0}", float(row.reference_peak_bytes) / 1024.0),
            ]);
        }
        format!(
            "{}\nMedian (quartiles) of {} rounds. The reference gets all of the body in one slice, ours chunks of 64 KiB; bytes a second are \
             those before gzip. Budget: JSON 10 times and 2 GB/s, protobuf 10 times and 5 GB/s, memory below {} KiB. {}\n\n{}\n",
            table.to_markdown(),
            self.rounds,
            PEAK / 1024,
            self.verdict(),
            self.machine
        )
    }

    fn verdict(&self) -> String {
        let budgeted = self.bodies.iter().filter_map(|row| Some((row, budget(row.encoding)?)));
        let of = budgeted.clone().count();
        let times = budgeted.clone().filter(|(row, budget)| row.reaches_times(*budget)).count();
        let speed = budgeted.filter(|(row, budget)| row.reaches_speed(*budget)).count();
        let memory = self.bodies.iter().filter(|row| row.peak_bytes < PEAK).count();
        format!("Kept: times by {times} of {of}, GB/s by {speed} of {of}, memory by {memory} of {}.", self.bodies.len())
    }
}

impl Row {
    fn of(measured: &Measured) -> Self {
        let body = &measured.body;
        let bytes = float(body.plain_size as u64);
        let per_second = |seconds: &[f64]| Summary::of(seconds.iter().map(|seconds| bytes / seconds));
        Self {
            list: body.kind,
            encoding: body.encoding,
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

    fn reaches_times(&self, budget: Budget) -> bool {
        self.times_faster.is_some_and(|summary| summary.median >= budget.times)
    }

    fn reaches_speed(&self, budget: Budget) -> bool {
        self.bytes_per_second.is_some_and(|summary| summary.median >= budget.bytes_per_second)
    }
}

fn cell(summary: Option<Summary>, factor: f64) -> String {
    summary.map(|summary| format!("{:.2}", summary.scaled(factor))).unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52 bytes")]
fn float(number: u64) -> f64 {
    number as f64
}
