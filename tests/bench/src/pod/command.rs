//! The command of the bench `pod`: starts a node, runs all measurements there, and writes the report.

use std::path::PathBuf;

use anyhow::{Context, Result};
use observer_tests::node::Node;

use super::idle::{self, Amounts};
use super::image::Sidecar;
use super::latency::{self, Latency};
use super::report::Report;
use super::stage::{Beside, Stage};
use super::start::{self, Start};
use crate::machine::Machine;
use crate::output::Output;

/// Measure the sidecar in pods of a real node: memory, CPU, latency, start, image; needs what the test group `node` needs
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of measurements of each latency and each start
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Number of pods that the informers have
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(600..10_000))]
    objects: u32,

    /// The image in an OCI layout, an archive or a folder [default: a program that the tests have built, only to check that the bench runs]
    #[arg(long, value_name = "PATH")]
    image: Option<PathBuf>,

    #[command(flatten)]
    output: Output,
}

/// Changes per second, each of another object.
const CHANGES_A_SECOND: u32 = 10;
/// Duration of each measurement of memory and CPU.
const SECONDS: u32 = 60;
/// GETs and events of a round.
const WAITS: u32 = 500;

/// Runs all measurements and writes the report.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let (amounts, waits, rounds) = if args.output.smoke {
        (Amounts { objects: 20, changes_a_second: CHANGES_A_SECOND, seconds: 1 }, 10, 1)
    } else {
        (Amounts { objects: args.objects, changes_a_second: CHANGES_A_SECOND, seconds: SECONDS }, WAITS, args.rounds)
    };
    let machine = Machine::now();
    let folder = tempfile::tempdir().context("no private folder for this run")?;
    let sidecar = match &args.image {
        Some(image) => Sidecar::of_layout(image, folder.path())?,
        None => Sidecar::built()?,
    };
    args.output.progress("pod: starting a node");
    let node = Node::start()?;
    let stage = Stage::prepare(&node, &sidecar, rounds)?;
    let (without, with) = ("without", "with");
    stage.run(without, "wait", Beside::Nothing)?;

    args.output.progress(&format!("pod: memory and CPU, two times {} s", amounts.seconds));
    let idle = idle::measure(&stage, without, amounts)?;
    args.output.progress(&format!("pod: latency, {rounds} rounds"));
    stage.run(with, "wait", Beside::Watchtap)?;
    let latencies = latency::measure(&stage, without, with, waits, rounds)?;
    for pod in [without, with] {
        stage.namespace.delete(&format!("pod/{pod}"))?;
    }
    args.output.progress(&format!("pod: {rounds} starts of the sidecar"));
    let own = start::own(&stage, rounds)?;
    let starts = start::measure(&stage, rounds, |round| {
        args.output.progress(&format!("pod: starts of pods, round {} of {rounds}", round + 1));
    })?;

    let latencies = Latency::of_rounds(&latencies).context("no rounds")?;
    let report = Report { idle, latencies, start: Start::of(&starts, &own).context("no rounds")?, image: sidecar.size(), machine };
    args.output.write("pod", &report, &report.to_markdown())
}
