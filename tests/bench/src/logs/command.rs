//! The command of the bench `logs`: makes a log, measures all rounds, and writes the report.

use std::fs;

use anyhow::Result;

use super::events::Events;
use super::report::Report;
use super::way::{Taken, Way};
use crate::machine::Machine;
use crate::output::Output;

/// Read an audit log of a realistic mix with `watchtap read`, and compare with `serde_json` and jq
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of rounds of all measurements
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    #[command(flatten)]
    output: Output,
}

/// Runs all measurements and writes the report.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let (events, rounds) = if args.output.smoke { (1_000, 1) } else { (200_000, args.rounds) };
    let machine = Machine::now();
    let folder = tempfile::tempdir()?;
    let (file, mut text) = (folder.path().join("audit.log"), Vec::new());
    Events::new().write(events, &mut text)?;
    fs::write(&file, &text)?;
    let mut taken: Vec<(Way, Vec<Taken>)> =
        Way::ALL.into_iter().filter(|way| way.is_installed()).map(|way| (way, Vec::new())).collect();
    for round in 0..rounds {
        args.output.progress(&format!("logs: round {} of {rounds}", round + 1));
        for (way, samples) in &mut taken {
            samples.push(way.read(&file, &text)?);
        }
    }
    let report = Report::of(events, text.len(), &taken, machine)?;
    args.output.write("logs", &report, &report.to_markdown())
}
