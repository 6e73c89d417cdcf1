//! The command of the bench `following`: measures all rounds, and writes the report.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result};
use observer_counted::Stage;
use serde_json::Value;

use super::report::{Report, Round};
use crate::allocation::peak_during;
use crate::machine::Machine;
use crate::output::Output;

/// Follow ten thousand reflectors, and compare the cost of an event with that of a full parse of the event
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
    let (reflectors, events, rounds) = if args.output.smoke { (100, 1_000, 1) } else { (10_000, 200_000, args.rounds) };
    let machine = Machine::now();
    let mut stage = None;
    let peak = peak_during(|| stage = Some(Stage::set(reflectors)));
    let mut stage = stage.context("the stage is set")??;
    let each = peak / stage.watches() as u64;
    let mut measured = Vec::new();
    for round in 0..rounds {
        args.output.progress(&format!("following: round {} of {rounds}", round + 1));
        measured.push(one_round(&mut stage, events)?);
    }
    let report = Report::of(stage.watches(), each, &measured, machine)?;
    args.output.write("following", &report, &report.to_markdown())
}

fn one_round(stage: &mut Stage, events: usize) -> Result<Round> {
    let (decoded, observed) = (stage.frames(events)?, stage.frames(events)?);
    let bytes: usize = observed.iter().map(|(_, frame)| frame.len()).sum();
    let decode_only = timed(|| {
        black_box(stage.decode(&decoded));
    });
    let whole = timed(|| stage.observe(&observed));
    let parse = timed(|| {
        for (_, frame) in &observed {
            drop(black_box(serde_json::from_slice::<Value>(Stage::payload(frame))));
        }
    });
    let snapshot = timed(|| drop(black_box(stage.observer().snapshot())));
    let each = |seconds: f64| seconds * 1e9 / count(events);
    Ok(Round {
        decode_ns: each(decode_only),
        total_ns: each(whole),
        parse_ns: each(parse),
        snapshot_ms: snapshot * 1e3,
        event_bytes: count(bytes) / count(events),
    })
}

fn timed(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "a bench's numbers are small")]
const fn count(number: usize) -> f64 {
    number as f64
}
