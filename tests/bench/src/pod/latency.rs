//! The latency of a GET and of a watch event, without the sidecar and with it, in turn.

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;

use super::stage::Stage;
use crate::statistics::Summary;

/// The answer that a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Wait {
    /// A GET of a small object, one after the other on one connection.
    Get,
    /// The event of a watch: from the beginning of the write, which does not pass the sidecar.
    Event,
}

/// One round: the same client in both pods. In microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    wait: Wait,
    without: Percentiles,
    with: Percentiles,
}

#[derive(Clone, Copy, Debug)]
struct Percentiles {
    p50: f64,
    p99: f64,
}

/// All rounds of one percentile.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Latency {
    pub(super) wait: Wait,
    pub(super) percentile: u32,
    pub(super) without_us: Summary,
    pub(super) with_us: Summary,
    pub(super) added_us: Summary,
    pub(super) ratio: Summary,
}

/// The pods `without` and `with` a sidecar.
pub(super) fn measure(stage: &Stage<'_>, without: &str, with: &str, waits: u32, rounds: u32) -> Result<Vec<Round>> {
    let waits = waits.to_string();
    let server = stage.node.server_url();
    let mut measured = Vec::new();
    for round in 0..rounds {
        for (wait, task) in [(Wait::Get, vec!["get", &waits]), (Wait::Event, vec!["watch", &waits, &server])] {
            let of = |pod: &str| Percentiles::of(&stage.task(pod, &task)?);
            // Each of the two is first in turn: the second one finds warmer caches.
            let measured_round = if round % 2 == 0 {
                Round { wait, without: of(without)?, with: of(with)? }
            } else {
                let with = of(with)?;
                Round { wait, without: of(without)?, with }
            };
            measured.push(measured_round);
        }
    }
    Ok(measured)
}

impl Percentiles {
    fn of(printed: &Value) -> Result<Self> {
        let number = |name: &str| printed[name].as_f64().with_context(|| format!("no {name} in {printed}"));
        Ok(Self { p50: number("p50_us")?, p99: number("p99_us")? })
    }
}

impl Latency {
    /// A row for each wait and percentile.
    pub(super) fn of_rounds(rounds: &[Round]) -> Option<Vec<Self>> {
        let rows = [Wait::Get, Wait::Event].into_iter().flat_map(|wait| [(wait, 50), (wait, 99)]);
        rows.map(|(wait, percentile)| Self::of(rounds, wait, percentile)).collect()
    }

    fn of(rounds: &[Round], wait: Wait, percentile: u32) -> Option<Self> {
        let of = |percentiles: Percentiles| if percentile == 50 { percentiles.p50 } else { percentiles.p99 };
        let pairs = || rounds.iter().filter(|round| round.wait == wait).map(|round| (of(round.without), of(round.with)));
        Some(Self {
            wait,
            percentile,
            without_us: Summary::of(pairs().map(|(without, _)| without))?,
            with_us: Summary::of(pairs().map(|(_, with)| with))?,
            added_us: Summary::of(pairs().map(|(without, with)| with - without))?,
            ratio: Summary::of_ratios(pairs().map(|(_, with)| with), pairs().map(|(without, _)| without))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rounds_are_compared_one_by_one() {
        let percentiles = |p50: f64, p99: f64| Percentiles::of(&json!({"p50_us": p50, "p99_us": p99})).unwrap();
        let round = |wait, factor: f64| Round {
            wait,
            without: percentiles(100.0 * factor, 200.0 * factor),
            with: percentiles(150.0 * factor, 500.0 * factor),
        };
        // In the third round, everything took three times as long.
        let rounds = [1.0, 1.0, 3.0].map(|factor| [Wait::Get, Wait::Event].map(|wait| round(wait, factor))).concat();
        let rows = Latency::of_rounds(&rounds).unwrap();
        let rows: Vec<_> = rows.iter().map(|row| (row.wait, row.percentile, row.added_us.median, row.ratio.high)).collect();
        let expected =
            [(Wait::Get, 50, 50.0, 1.5), (Wait::Get, 99, 300.0, 2.5), (Wait::Event, 50, 50.0, 1.5), (Wait::Event, 99, 300.0, 2.5)];
        assert_eq!(rows, expected);
        assert!(Latency::of_rounds(&[]).is_none());
    }
}
