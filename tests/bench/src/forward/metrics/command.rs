//! The command of the bench `metrics`: measures each case in turn, then a large page, and writes the report.

use std::time::Duration;

use anyhow::{Context, Result};

use super::super::running::{Inputs, Upstream};
use super::super::sample::Sample;
use super::super::scenario::{Amounts, Scenario};
use super::super::stack::Stack;
use super::case::{Case, Stage};
use super::page::Page;
use super::report::{Measured, Report};
use crate::credentials::Credentials;
use crate::machine::Machine;
use crate::output::Output;

/// Send GETs and events through watchtap while others read its metrics, in turn, and scrape a watchtap with many clients
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of measurements for each case
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    #[command(flatten)]
    output: Output,
}

/// Traffic of small parts, whose latency others would change first.
const SCENARIOS: [Scenario; 2] = [Scenario::GetH1, Scenario::EventsH2];
/// Time for visitors to come.
const ARRIVAL: Duration = Duration::from_millis(1_200);

/// Runs all measurements and writes the report.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let output = &args.output;
    let machine = Machine::now();
    let folder = tempfile::tempdir().context("no private folder for this run")?;
    let credentials = Credentials::generate(folder.path())?;
    let amounts = if output.smoke { Amounts::SMOKE } else { Amounts::FULL };
    let place = Inputs { folder: folder.path().to_path_buf(), credentials, amounts, go: None };
    let rounds = if output.smoke { 1 } else { usize::try_from(args.rounds)? };
    // As many threads as watchtap has.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut measured = Vec::new();
    for scenario in SCENARIOS {
        // This runs on the main thread, because the servers are killed when the thread that started them ends.
        measured.push(runtime.block_on(measure(scenario, rounds, &place, output))?);
    }
    output.progress("a page with many clients");
    let page = Page::measure(output.smoke, rounds)?;
    let report = Report::of(measured, page, machine, rounds);
    output.write("metrics", &report, &report.to_markdown())
}

/// All rounds of one scenario. The order of cases rotates from round to round.
async fn measure(scenario: Scenario, rounds: usize, place: &Inputs, output: &Output) -> Result<Measured> {
    let upstream = Upstream::start(Stack::Hyper, scenario.http(), place)?;
    let stages = Case::ALL.into_iter().map(|case| Stage::set(case, &upstream, place)).collect::<Result<Vec<_>>>()?;
    let mut samples: Vec<(Case, Vec<Sample>)> = Case::ALL.map(|case| (case, Vec::new())).into();
    for round in 0..rounds {
        output.progress(&format!("{}: round {} of {rounds}", scenario.name(), round + 1));
        for step in 0..stages.len() {
            let at = (step + round) % stages.len();
            let (Some(stage), Some((case, of_case))) = (stages.get(at), samples.get_mut(at)) else { continue };
            let visitors = stage.visit(output.smoke)?;
            if visitors.is_some() && !output.smoke {
                tokio::time::sleep(ARRIVAL).await;
            }
            let sample = stage.open.measure(scenario, place).await;
            of_case.push(sample.with_context(|| format!("{}, {}", scenario.name(), case.name()))?);
            drop(visitors);
        }
    }
    for stage in stages {
        stage.open.stop(place)?;
    }
    Ok(Measured { scenario, samples })
}
