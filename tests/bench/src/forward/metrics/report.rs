//! The measurements as a table.

use serde::Serialize;

use super::super::sample::Sample;
use super::super::scenario::Scenario;
use super::case::Case;
use super::page::Page;
use crate::machine::Machine;
use crate::statistics::Summary;
use crate::table::Table;

/// The samples of one scenario, by case.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) scenario: Scenario,
    pub(super) samples: Vec<(Case, Vec<Sample>)>,
}

#[derive(Debug, Serialize)]
pub(super) struct Report {
    machine: Machine,
    rounds: usize,
    scenarios: Vec<Measured>,
    page: Page,
}

/// A figure that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    P99,
    Cpu,
}

impl Figure {
    const ALL: [Self; 2] = [Self::P99, Self::Cpu];

    const fn name(self) -> &'static str {
        match self {
            Self::P99 => "p99 of forwarding",
            Self::Cpu => "CPU of watchtap",
        }
    }

    /// In milliseconds, or in seconds for 1000 operations.
    fn of(self, sample: &Sample) -> Option<f64> {
        match self {
            Self::P99 => Some(sample.p99_seconds? * 1e3),
            Self::Cpu => Some(sample.cpu_seconds * 1e3 / float(sample.operations)),
        }
    }
}

impl Measured {
    fn values(&self, case: Case, figure: Figure) -> Vec<f64> {
        let samples = self.samples.iter().find(|(of, _)| *of == case).map(|(_, samples)| samples.as_slice()).unwrap_or_default();
        samples.iter().filter_map(|sample| figure.of(sample)).collect()
    }

    fn ratio(&self, case: Case, to: Case, figure: Figure) -> Option<Summary> {
        Summary::of_ratios(self.values(case, figure), self.values(to, figure))
    }

    /// How much the case alone differs from round to round: its quartiles, in relation to its median.
    fn spread(&self, figure: Figure) -> Option<Summary> {
        let alone = Summary::of(self.values(Case::Alone, figure))?;
        (alone.median > 0.0).then(|| alone.scaled(1.0 / alone.median))
    }
}

impl Report {
    pub(super) fn of(scenarios: Vec<Measured>, page: Page, machine: Machine, rounds: usize) -> Self {
        Self { machine, rounds, scenarios, page }
    }

    pub(super) fn to_markdown(&self) -> String {
        format!(
            "{}\nTime and CPU in relation to the same watchtap alone; the last column in relation to the visitors elsewhere, which take as much CPU \
             from the client. Median (quartiles) of the ratios of {} rounds. {}\n\n{}\n",
            self.table().to_markdown(),
            self.rounds,
            self.page.to_markdown(),
            self.machine,
        )
    }

    fn table(&self) -> Table {
        let heads = ["Traffic", "measured"].into_iter().chain(Case::ALL.map(Case::name)).chain(["hostile, to elsewhere"]);
        let mut table = Table::new(heads);
        for measured in &self.scenarios {
            for figure in Figure::ALL {
                let cell = |summary: Option<Summary>| summary.map(|summary| format!("{summary:.2}")).unwrap_or_default();
                let of =
                    |case| if case == Case::Alone { measured.spread(figure) } else { measured.ratio(case, Case::Alone, figure) };
                let cases = Case::ALL.map(|case| cell(of(case)));
                let hostile = cell(measured.ratio(Case::Hostile, Case::Elsewhere, figure));
                let names = [measured.scenario.name(), figure.name()].map(str::to_owned);
                table.row(names.into_iter().chain(cases).chain([hostile]));
            }
        }
        table
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn float(number: u64) -> f64 {
    number as f64
}
