//! The measurements as tables.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use super::client::Spent;
use super::mode::Mode;
use crate::machine::Machine;
use crate::statistics::Summary;
use crate::table::Table;

/// One client in one mode in one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    client: &'static str,
    mode: Mode,
    /// CPU time of the client per exchange, in nanoseconds.
    client_ns: f64,
    /// CPU time of watchtap per exchange, in nanoseconds.
    watchtap_ns: f64,
    exchanges_a_second: f64,
}

/// One client at one rate, with and without watchtap.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct AtRate {
    client: &'static str,
    calls_a_second: u64,
    /// The actual rate, in calls per second.
    reached: f64,
    /// Share of one CPU.
    client_share: f64,
    /// Share of one CPU without probes.
    unprobed_share: f64,
    /// Share of one CPU.
    watchtap_share: f64,
    /// In bytes.
    missed: u64,
}

/// A probe that observes nothing.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Idle {
    /// Number of processes beside those of the machine.
    processes: usize,
    /// Share of one CPU.
    share: f64,
    /// Resident memory without file-backed pages, in bytes.
    memory: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Report {
    modes: Vec<InMode>,
    rates: Vec<AtRate>,
    idle: Vec<Idle>,
    machine: Machine,
}

/// One client in one mode.
#[derive(Clone, Copy, Debug, Serialize)]
struct InMode {
    client: &'static str,
    mode: Mode,
    client_ns: Summary,
    /// Additional nanoseconds per call, compared with unprobed; an exchange has two calls.
    added_ns_a_call: Summary,
    watchtap_ns_a_call: Summary,
    /// Exchanges per second, relative to unprobed.
    throughput: Summary,
    /// Nanoseconds added to a call, relative to those added by bare uprobes; `None` if no round shows that bare uprobes cost anything.
    of_bare: Option<Summary>,
}

impl Sample {
    pub(super) fn of(client: &'static str, mode: Mode, exchanges: u64, spent: Spent, watchtap: Duration) -> Self {
        let exchanges = number(exchanges);
        Self {
            client,
            mode,
            client_ns: spent.cpu_seconds * 1e9 / exchanges,
            watchtap_ns: watchtap.as_secs_f64() * 1e9 / exchanges,
            exchanges_a_second: exchanges / spent.seconds,
        }
    }
}

impl AtRate {
    pub(super) fn of(
        client: &'static str,
        calls_a_second: u64,
        calls: u64,
        unprobed: Spent,
        spent: Spent,
        watchtap: Duration,
        missed: u64,
    ) -> Self {
        Self {
            client,
            calls_a_second,
            reached: number(calls) / spent.seconds,
            client_share: spent.cpu_seconds / spent.seconds,
            unprobed_share: unprobed.cpu_seconds / unprobed.seconds,
            watchtap_share: watchtap.as_secs_f64() / spent.seconds,
            missed,
        }
    }
}

impl Idle {
    pub(super) fn of(processes: usize, seconds: u64, spent: Duration, memory: u64) -> Self {
        Self { processes, share: spent.as_secs_f64() / number(seconds), memory }
    }
}

impl Report {
    pub(super) fn of(samples: &[Sample], rates: Vec<AtRate>, idle: Vec<Idle>, machine: Machine) -> Result<Self> {
        let mut clients: Vec<&'static str> = samples.iter().map(|sample| sample.client).collect();
        clients.dedup();
        let mut modes = Vec::new();
        for client in clients {
            for mode in Mode::ALL {
                modes.push(in_mode(samples, client, mode).context("no rounds")?);
            }
        }
        Ok(Self { modes, rates, idle, machine })
    }

    pub(super) fn to_markdown(&self) -> String {
        let mut table = Table::new([
            "TLS",
            "Probed by",
            "added to a call, ns",
            "of those of bare uprobes",
            "of watchtap, a call, ns",
            "exchanges a second, of those unprobed",
        ]);
        for InMode { client, mode, added_ns_a_call, of_bare, watchtap_ns_a_call, throughput, .. } in &self.modes {
            table.row([
                (*client).to_owned(),
                mode.name().to_owned(),
                format!("{added_ns_a_call:.0}"),
                of_bare.map_or_else(|| "unknown".to_owned(), |ratio| format!("{ratio:.2}")),
                format!("{watchtap_ns_a_call:.0}"),
                format!("{throughput:.2}"),
            ]);
        }
        let mut rates =
            Table::new(["TLS", "calls a second", "reached", "client, CPUs", "unprobed, CPUs", "watchtap, CPUs", "bytes missed"]);
        for AtRate { client, calls_a_second, reached, client_share, unprobed_share, watchtap_share, missed } in &self.rates {
            rates.row([
                (*client).to_owned(),
                calls_a_second.to_string(),
                format!("{reached:.0}"),
                format!("{client_share:.2}"),
                format!("{unprobed_share:.2}"),
                format!("{watchtap_share:.2}"),
                missed.to_string(),
            ]);
        }
        let mut idle = Table::new(["Processes beside those of the machine", "watchtap, CPUs", "watchtap, MiB"]);
        for Idle { processes, share, memory } in &self.idle {
            idle.row([processes.to_string(), format!("{share:.3}"), format!("{:.1}", number(*memory) / f64::from(1 << 20))]);
        }
        format!("{}\n{}\n{}\n{}\n{}\n", table.to_markdown(), rates.to_markdown(), idle.to_markdown(), self.verdict(), self.machine)
    }

    /// The budget, and which clients keep it in which mode.
    fn verdict(&self) -> String {
        let judged = self.modes.iter().filter(|one| one.mode.is_of_watchtap());
        let kept = judged.map(|one| {
            let name = format!("{} with {}", one.client, one.mode.name());
            match one.of_bare {
                Some(ratio) if ratio.median <= MOST_OF_BARE => format!("- {name}: {:.2}, kept", ratio.median),
                Some(ratio) => format!("- {name}: {:.2}, **missed**", ratio.median),
                None => format!("- {name}: unknown, as no round shows what bare uprobes cost"),
            }
        });
        format!("Budget: {MOST_OF_BARE} times what bare uprobes add to a call.\n\n{}\n", kept.collect::<Vec<_>>().join("\n"))
    }
}

/// Most that watchtap may add to a call, relative to bare uprobes at the same places.
const MOST_OF_BARE: f64 = 1.3;

fn in_mode(samples: &[Sample], client: &'static str, mode: Mode) -> Option<InMode> {
    let of = |wanted: Mode| samples.iter().filter(move |sample| sample.client == client && sample.mode == wanted);
    let added = |by: Mode| {
        let pairs = of(by).zip(of(Mode::Unprobed));
        pairs.map(|(sample, unprobed)| (sample.client_ns - unprobed.client_ns) / 2.0).collect::<Vec<f64>>()
    };
    Some(InMode {
        client,
        mode,
        client_ns: Summary::of(of(mode).map(|sample| sample.client_ns))?,
        added_ns_a_call: Summary::of(added(mode))?,
        watchtap_ns_a_call: Summary::of(of(mode).map(|sample| sample.watchtap_ns / 2.0))?,
        of_bare: Summary::of_ratios(added(mode), added(Mode::Bare)),
        throughput: Summary::of_ratios(
            of(mode).map(|sample| sample.exchanges_a_second),
            of(Mode::Unprobed).map(|sample| sample.exchanges_a_second),
        )?,
    })
}

#[expect(clippy::cast_precision_loss, reason = "a bench's numbers are small")]
const fn number(number: u64) -> f64 {
    number as f64
}
