//! The measurements as a table.

use anyhow::{Context, Result};
use serde::Serialize;

use super::way::{Taken, Way};
use crate::machine::Machine;
use crate::statistics::Summary;
use crate::table::Table;

/// How many times as fast as the others watchtap has to be.
const fn budget(way: Way) -> Option<f64> {
    match way {
        Way::Watchtap => None,
        Way::SerdeJsonValue => Some(5.0),
        Way::Jq => Some(20.0),
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Report {
    schema: &'static str,
    machine: Machine,
    rounds: usize,
    events: usize,
    bytes: usize,
    ways: Vec<Row>,
    /// The ways that are not installed here.
    missing: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct Row {
    way: Way,
    threads: u32,
    ns_an_event: Summary,
    cpu_ns_an_event: Summary,
    bytes_per_second: Summary,
    /// How many times as fast watchtap is, on the clock.
    watchtap_times: Summary,
    /// How many times as much it reads in a second of one processor. `None` if the processor time is too short to be measured.
    watchtap_cpu_times: Option<Summary>,
}

impl Report {
    pub(super) fn of(events: usize, bytes: usize, taken: &[(Way, Vec<Taken>)], machine: Machine) -> Result<Self> {
        let (_, ours) = taken.iter().find(|(way, _)| *way == Way::Watchtap).context("watchtap is not measured")?;
        let missing = Way::ALL.into_iter().filter(|way| !taken.iter().any(|(other, _)| other == way)).map(Way::name).collect();
        let row = |(way, samples): &(Way, Vec<Taken>)| {
            let seconds = |of: &[Taken]| of.iter().map(|taken| taken.seconds).collect::<Vec<_>>();
            let cpu = |of: &[Taken]| of.iter().map(|taken| taken.cpu_seconds).collect::<Vec<_>>();
            let each = |seconds: Vec<f64>| Summary::of(seconds.into_iter().map(|seconds| seconds * 1e9 / count(events)));
            Some(Row {
                way: *way,
                threads: way.threads(),
                ns_an_event: each(seconds(samples))?,
                cpu_ns_an_event: each(cpu(samples))?,
                bytes_per_second: Summary::of(seconds(samples).into_iter().map(|seconds| count(bytes) / seconds))?,
                watchtap_times: Summary::of_ratios(seconds(samples), seconds(ours))?,
                watchtap_cpu_times: Summary::of_ratios(cpu(samples), cpu(ours)),
            })
        };
        let ways = taken.iter().map(row).collect::<Option<Vec<_>>>().context("no rounds")?;
        Ok(Self { schema: "watchtap.bench.logs/v1", machine, rounds: ours.len(), events, bytes, ways, missing })
    }

    pub(super) fn to_markdown(&self) -> String {
        let mut table = Table::new([
            "Program",
            "threads",
            "ns an event",
            "MB/s",
            "CPU ns an event",
            "watchtap is … times as fast",
            "… times as fast by CPU time",
        ]);
        for row in &self.ways {
            let is_ours = row.way == Way::Watchtap;
            let times =
                |summary: Option<Summary>| summary.filter(|_| !is_ours).map(|summary| format!("{summary:.2}")).unwrap_or_default();
            table.row([
                row.way.name().to_owned(),
                row.threads.to_string(),
                format!("{:.0}", row.ns_an_event),
                format!("{:.0}", row.bytes_per_second.scaled(1e-6)),
                format!("{:.0}", row.cpu_ns_an_event),
                times(Some(row.watchtap_times)),
                times(row.watchtap_cpu_times),
            ]);
        }
        let missing = if self.missing.is_empty() {
            String::new()
        } else {
            format!(" Left out, because it is missing: {}.", self.missing.join(", "))
        };
        format!(
            "{}\nMedian (quartiles) of {} rounds, {} events of {:.0} bytes. Budget: 5 times as fast as serde_json, and 20 times as fast as jq; {}.{missing} {}\n",
            table.to_markdown(),
            self.rounds,
            self.events,
            count(self.bytes) / count(self.events),
            self.verdict(),
            self.machine
        )
    }

    fn verdict(&self) -> String {
        let judged = self.ways.iter().filter_map(|row| Some((row, budget(row.way)?)));
        let words = judged.map(|(row, budget)| {
            let is_kept = row.watchtap_times.median >= budget;
            format!("{}: {}", row.way.name(), if is_kept { "kept" } else { "not kept" })
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

#[expect(clippy::cast_precision_loss, reason = "a bench's numbers are small")]
const fn count(number: usize) -> f64 {
    number as f64
}
