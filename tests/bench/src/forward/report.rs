//! The report on the proxies: first ratios, then absolute numbers.

use serde::Serialize;

use super::go_program;
use super::running::Missed;
use super::sample::Sample;
use super::scenario::{Scenario, Unit};
use super::stack::Stack;
use super::way::Way;
use crate::machine::Machine;
use crate::statistics::Summary;
use crate::table::Table;

/// All samples of one scenario.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) scenario: Scenario,
    pub(super) stack: Stack,
    pub(super) samples: Vec<(Way, Vec<Sample>)>,
    /// The bytes that `watchtap run` forwarded without observing them.
    pub(super) missed: Missed,
}

/// All scenarios.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    schema: &'static str,
    machine: Machine,
    /// The peers and their versions; `None` for those not installed.
    peers: Vec<(Way, Option<String>)>,
    /// The version of Go, if client and server in Go were measured.
    go: Option<String>,
    rounds: usize,
    scenarios: Vec<Measured>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    /// CPU seconds per gigabyte, or per thousand operations.
    Cpu,
    /// Megabytes or operations per second.
    Throughput,
    /// 99th percentile of the latency, in milliseconds.
    P99,
    /// KiB per connection.
    Memory,
}

/// The budgets for CPU, relative to the best peer.
const BUDGET_OFF: f64 = 0.85;
const BUDGET_ON: f64 = 1.0;

impl Metric {
    fn value(self, sample: &Sample, unit: Unit) -> Option<f64> {
        let amount = match unit {
            Unit::Byte => float(sample.bytes) / 1e9,
            Unit::Request | Unit::Event | Unit::Connection => float(sample.operations) / 1e3,
        };
        let value = match self {
            Self::Cpu => sample.cpu_seconds / amount,
            Self::Throughput if unit == Unit::Byte => amount * 1e3 / sample.seconds,
            // The server sets the rate of events.
            Self::Throughput if unit == Unit::Event => return None,
            Self::Throughput => amount * 1e3 / sample.seconds,
            Self::P99 => sample.p99_seconds? * 1e3,
            Self::Memory => float(sample.memory?) / 1024.0 / float(sample.operations),
        };
        value.is_finite().then_some(value)
    }

    /// The metrics that apply to `scenario`.
    fn of(scenario: Scenario) -> &'static [Self] {
        match scenario {
            Scenario::IdleWatches => &[Self::Memory],
            Scenario::ListH1 | Scenario::ListH1x4 | Scenario::ListH2 | Scenario::ListH2x4 => &[Self::Cpu, Self::Throughput],
            Scenario::GetH1 | Scenario::GetH2 | Scenario::NewConnections => &[Self::Cpu, Self::Throughput, Self::P99],
            Scenario::EventsH1 | Scenario::EventsH2 => &[Self::Cpu, Self::P99],
        }
    }

    fn unit(self, unit: Unit) -> &'static str {
        match (self, unit) {
            (Self::Cpu, Unit::Byte) => "CPU s/GB",
            (Self::Cpu, Unit::Request) => "CPU s/1000 requests",
            (Self::Cpu, Unit::Event) => "CPU s/1000 events",
            (Self::Cpu, Unit::Connection) => "CPU s/1000 connections",
            (Self::Throughput, Unit::Byte) => "MB/s",
            (Self::Throughput, Unit::Request | Unit::Event | Unit::Connection) => "a second",
            (Self::P99, _) => "p99 ms",
            (Self::Memory, _) => "KiB a connection",
        }
    }
}

impl Measured {
    fn values(&self, way: Way, metric: Metric) -> Vec<f64> {
        let samples = self.samples.iter().find(|(of, _)| *of == way).map(|(_, samples)| samples.as_slice()).unwrap_or_default();
        samples.iter().filter_map(|sample| metric.value(sample, self.scenario.unit())).collect()
    }

    fn summary(&self, way: Way, metric: Metric) -> Option<Summary> {
        Summary::of(self.values(way, metric))
    }

    /// The peer with the best median.
    fn best_peer(&self, metric: Metric) -> Option<Way> {
        let medians = Way::PEERS.into_iter().filter_map(|way| Some((way, self.summary(way, metric)?.median)));
        let best = medians.min_by(|(_, one), (_, other)| match metric {
            Metric::Cpu | Metric::P99 | Metric::Memory => one.total_cmp(other),
            Metric::Throughput => other.total_cmp(one),
        });
        best.map(|(way, _)| way)
    }

    /// `way` relative to the best peer, round by round.
    fn ratio(&self, way: Way, metric: Metric) -> Option<Summary> {
        let peer = self.best_peer(metric)?;
        Summary::of_ratios(self.values(way, metric), self.values(peer, metric))
    }

    /// The share of forwarded bytes that `watchtap run` did not observe, in percent.
    fn missed_percent(&self) -> f64 {
        let samples = self.samples.iter().filter(|(way, _)| *way == Way::WatchtapOn).flat_map(|(_, samples)| samples);
        let bytes: u64 = samples.map(|sample| sample.bytes).sum();
        if bytes == 0 { 0.0 } else { 100.0 * float(self.missed.bytes) / float(bytes) }
    }
}

impl Report {
    pub(super) fn of(scenarios: Vec<Measured>, machine: Machine, rounds: usize) -> Self {
        let peers = Way::PEERS.into_iter().map(|way| (way, way.version())).collect();
        let go = scenarios.iter().any(|measured| measured.stack == Stack::Go).then(go_program::version).flatten();
        Self { schema: "watchtap.bench.forward/v1", machine, peers, go, rounds, scenarios }
    }

    /// Formats the report, with the ratios first.
    pub(super) fn to_markdown(&self) -> String {
        format!(
            "{}\nCPU, time and memory relative to the best peer of the row: below 1 is better than it; throughput: above 1. Median (quartiles) of \
             the ratios of {} rounds. Budget for CPU: {BUDGET_OFF} with observing off, {BUDGET_ON:.2} with observing on. {}\n\n{}\n{} {}\n",
            self.ratios().to_markdown(),
            self.rounds,
            self.verdict(),
            self.figures().to_markdown(),
            self.peers(),
            self.machine,
        )
    }

    fn ratios(&self) -> Table {
        let mut table =
            Table::new(["Traffic", "client, server", "measured", "best peer", "observing off", "observing on", "not observed"]);
        for (measured, metric) in self.rows() {
            let cell = |way| measured.ratio(way, metric).map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
            let missed = if metric == Metric::Cpu { format!("{:.0} %", measured.missed_percent()) } else { String::new() };
            table.row([
                measured.scenario.name().to_owned(),
                measured.stack.name().to_owned(),
                metric.unit(measured.scenario.unit()).to_owned(),
                measured.best_peer(metric).map_or("none", Way::name).to_owned(),
                cell(Way::WatchtapOff),
                cell(Way::WatchtapOn),
                missed,
            ]);
        }
        table
    }

    fn figures(&self) -> Table {
        let heads = ["Traffic", "client, server", "measured"].into_iter().chain(Way::ALL.map(Way::name));
        let mut table = Table::new(heads);
        for (measured, metric) in self.rows() {
            let names = [measured.scenario.name(), measured.stack.name(), metric.unit(measured.scenario.unit())].map(str::to_owned);
            // Without a proxy there is no cost.
            let is_cost = matches!(metric, Metric::Cpu | Metric::Memory);
            let medians = Way::ALL.map(|way| {
                let summary = measured.summary(way, metric).filter(|_| !(is_cost && way == Way::Direct));
                summary.map(|summary| number(summary.median)).unwrap_or_default()
            });
            table.row(names.into_iter().chain(medians));
        }
        table
    }

    fn rows(&self) -> impl Iterator<Item = (&Measured, Metric)> {
        self.scenarios.iter().flat_map(|measured| Metric::of(measured.scenario).iter().map(move |metric| (measured, *metric)))
    }

    fn peers(&self) -> String {
        let peers = self.peers.iter().map(|(way, version)| match version {
            Some(version) => format!("{} {version}", way.name()),
            None => format!("{} left out, because not installed", way.name()),
        });
        let go = match &self.go {
            Some(version) => format!("Client and server in Go are of {version}."),
            None => String::from("Client and server in Go are left out."),
        };
        format!("Peers: {}. {go}", peers.collect::<Vec<_>>().join(", "))
    }

    fn verdict(&self) -> String {
        let costs = || self.rows().filter(|(_, metric)| matches!(metric, Metric::Cpu)).map(|(measured, _)| measured);
        let reached = |way, budget| {
            let ratios = costs().filter_map(|measured| measured.ratio(way, Metric::Cpu));
            ratios.filter(|ratio| ratio.median <= budget).count()
        };
        let compared = costs().filter(|measured| measured.ratio(Way::WatchtapOff, Metric::Cpu).is_some()).count();
        format!(
            "Reached in {} of {compared} kinds of traffic with observing off, in {} with observing on.",
            reached(Way::WatchtapOff, BUDGET_OFF),
            reached(Way::WatchtapOn, BUDGET_ON)
        )
    }
}

/// Three significant digits.
fn number(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else if value >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn float(number: u64) -> f64 {
    number as f64
}
