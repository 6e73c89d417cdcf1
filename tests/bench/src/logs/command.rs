//! The command of the bench `logs`: makes a log, measures all rounds, and writes the report.

use std::fs;

use anyhow::Result;

use super::events::{Events, Level};
use super::report::{Measured, Report};
use super::way::{Taken, Way};
use crate::machine::Machine;
use crate::output::Output;

/// Read audit logs with `watchtap read`, without bodies and with all bodies, and compare with `serde_json` and jq
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of rounds of all measurements
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    #[command(flatten)]
    output: Output,
}

/// Runs all measurements and writes the report.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let (rounds, machine) = (if args.output.smoke { 1 } else { args.rounds }, Machine::now());
    let logs = Level::ALL.into_iter().map(|level| measured(args, level, rounds)).collect::<Result<Vec<_>>>()?;
    let report = Report::of(&logs, machine)?;
    args.output.write("logs", &report, &report.to_markdown())
}

/// Makes a log of this level, and reads it in each way.
fn measured(args: &Args, level: Level, rounds: u32) -> Result<Measured> {
    let events = match (args.output.smoke, level) {
        (true, _) => 1_000,
        // So long that neither the start counts, nor the time until the first events are in order.
        (false, Level::Metadata) => 500_000,
        (false, Level::RequestResponse) => 50_000,
    };
    let folder = tempfile::tempdir()?;
    let (file, mut text) = (folder.path().join("audit.log"), Vec::new());
    Events::of(level)?.write(events, &mut text)?;
    fs::write(&file, &text)?;
    let mut taken: Vec<(Way, Vec<Taken>)> =
        Way::ALL.into_iter().filter(|way| way.is_installed()).map(|way| (way, Vec::new())).collect();
    for round in 0..rounds {
        args.output.progress(&format!("logs: {}, round {} of {rounds}", level.name(), round + 1));
        for (way, samples) in &mut taken {
            samples.push(way.read(&file, &text)?);
        }
    }
    Ok(Measured { level, events, bytes: text.len(), taken })
}
