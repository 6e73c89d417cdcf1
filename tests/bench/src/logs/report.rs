//! The measurements as a table.

use anyhow::{Context, Result};
use serde::Serialize;

use super::events::Level;
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

/// The samples of one log.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) level: Level,
    pub(super) events: usize,
    pub(super) bytes: usize,
    pub(super) taken: Vec<(Way, Vec<Taken>)>,
}

#[derive(Debug, Serialize)]
pub(super) struct Report {
    schema: &'static str,
    machine: Machine,
    rounds: usize,
    logs: Vec<Log>,
    /// The ways that are not installed here.
    missing: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct Log {
    level: Level,
    events: usize,
    bytes: usize,
    ways: Vec<Row>,
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

impl Log {
    fn of(measured: &Measured) -> Result<Self> {
        let Measured { level, events, bytes, taken } = measured;
        let (_, ours) = taken.iter().find(|(way, _)| *way == Way::Watchtap).context("watchtap is not measured")?;
        let row = |(way, samples): &(Way, Vec<Taken>)| {
            let seconds = |of: &[Taken]| of.iter().map(|taken| taken.seconds).collect::<Vec<_>>();
            let cpu = |of: &[Taken]| of.iter().map(|taken| taken.cpu_seconds).collect::<Vec<_>>();
            let each = |seconds: Vec<f64>| Summary::of(seconds.into_iter().map(|seconds| seconds * 1e9 / count(*events)));
            Some(Row {
                way: *way,
                threads: way.threads(),
                ns_an_event: each(seconds(samples))?,
                cpu_ns_an_event: each(cpu(samples))?,
                bytes_per_second: Summary::of(seconds(samples).into_iter().map(|seconds| count(*bytes) / seconds))?,
                watchtap_times: Summary::of_ratios(seconds(samples), seconds(ours))?,
                watchtap_cpu_times: Summary::of_ratios(cpu(samples), cpu(ours)),
            })
        };
        let ways = taken.iter().map(row).collect::<Option<Vec<_>>>().context("no rounds")?;
        Ok(Self { level: *level, events: *events, bytes: *bytes, ways })
    }

    /// `Metadata: 200000 events of 1379 bytes`.
    fn size(&self) -> String {
        format!("{}: {} events of {:.0} bytes", self.level.name(), self.events, count(self.bytes) / count(self.events))
    }

    fn verdict(&self) -> String {
        let judged = self.ways.iter().filter_map(|row| Some((row, budget(row.way)?)));
        let words = judged.map(|(row, budget)| {
            let is_kept = row.watchtap_times.median >= budget;
            format!("- {}, {}: {}", self.level.name(), row.way.name(), if is_kept { "kept" } else { "**missed**" })
        });
        words.collect::<Vec<_>>().join("\n")
    }
}

impl Report {
    pub(super) fn of(logs: &[Measured], machine: Machine) -> Result<Self> {
        let first = &logs.first().context("no log")?.taken;
        let missing = Way::ALL.into_iter().filter(|way| !first.iter().any(|(other, _)| other == way)).map(Way::name).collect();
        let rounds = first.first().map_or(0, |(_, samples)| samples.len());
        let logs = logs.iter().map(Log::of).collect::<Result<Vec<_>>>()?;
        Ok(Self { schema: "watchtap.bench.logs/v2", machine, rounds, logs, missing })
    }

    pub(super) fn to_markdown(&self) -> String {
        let mut table = Table::new([
            "Level",
            "Program",
            "threads",
            "ns an event",
            "MB/s",
            "CPU ns an event",
            "watchtap is … times as fast",
            "… times as fast by CPU time",
        ]);
        for (log, row) in self.logs.iter().flat_map(|log| log.ways.iter().map(move |row| (log, row))) {
            let is_ours = row.way == Way::Watchtap;
            let times =
                |summary: Option<Summary>| summary.filter(|_| !is_ours).map(|summary| format!("{summary:.2}")).unwrap_or_default();
            table.row([
                log.level.name().to_owned(),
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
        let each = |text: fn(&Log) -> String, between: &str| self.logs.iter().map(text).collect::<Vec<_>>().join(between);
        format!(
            "{}\nMedian (quartiles) of {} rounds. {}.{missing}\n\nBudget: 5 times as fast as serde_json, and 20 times as fast as jq.\n\n{}\n\n{}\n",
            table.to_markdown(),
            self.rounds,
            each(Log::size, ". "),
            each(Log::verdict, "\n"),
            self.machine
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "a bench's numbers are small")]
const fn count(number: usize) -> f64 {
    number as f64
}
