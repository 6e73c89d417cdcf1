//! The command of the bench `forward`: measures each scenario on each way, and writes the report.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::go_program;
use super::report::{Measured, Report};
use super::running::{Inputs, Missed, Open, Upstream};
use super::sample::Sample;
use super::scenario::{Amounts, Load, Scenario};
use super::stack::Stack;
use super::way::Way;
use crate::credentials::Credentials;
use crate::machine::Machine;
use crate::output::Output;

/// Send lists, GETs and watches through watchtap and through nginx, haproxy and stunnel, in turn
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of measurements for each proxy and scenario
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Run only these scenarios
    #[arg(long, value_enum, value_name = "SCENARIO", value_delimiter = ',')]
    only: Vec<Scenario>,

    /// Run only with these libraries in client and server
    #[arg(long, value_enum, value_name = "LIBRARY", value_delimiter = ',')]
    stack: Vec<Stack>,

    /// Install missing proxies (apt-get, as root)
    #[arg(long)]
    install: bool,

    #[command(flatten)]
    output: Output,
}

/// Memory is measured with fresh processes, which is slow but varies little.
const MEMORY_ROUNDS: usize = 3;

/// Runs all measurements and writes the report.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let output = &args.output;
    let machine = Machine::now();
    let missing: Vec<&str> = Way::ALL.into_iter().filter(|way| way.is_missing()).flat_map(Way::packages).copied().collect();
    if !missing.is_empty() {
        let install = format!("apt-get install --no-install-recommends {}", missing.join(" "));
        if args.install {
            run_install(&missing)?;
        } else {
            output.progress(&format!("left out, because not installed (`{install}`, or --install): {}", missing.join(", ")));
        }
    }
    let ways: Vec<Way> = Way::ALL.into_iter().filter(|way| !way.is_missing()).collect();
    let folder = tempfile::tempdir().context("no private folder for this run")?;
    let credentials = Credentials::generate(folder.path())?;
    let amounts = if output.smoke { Amounts::SMOKE } else { Amounts::FULL };
    let go = if args.selects(Stack::Go) { go_program(folder.path(), output)? } else { None };
    let has_go = go.is_some();
    let stacks = Stack::ALL.into_iter().filter(|stack| args.selects(*stack) && (*stack != Stack::Go || has_go));
    let place = Inputs { folder: folder.path().to_path_buf(), credentials, amounts, go };
    let rounds = if output.smoke { 1 } else { usize::try_from(args.rounds)? };
    // As many threads as each proxy has.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut measured = Vec::new();
    for (scenario, stack) in Scenario::ALL.into_iter().flat_map(|scenario| stacks.clone().map(move |stack| (scenario, stack))) {
        if stack.has(scenario) && (args.only.is_empty() || args.only.contains(&scenario)) {
            // This runs on the main thread, because the servers are killed when the thread that started them ends.
            measured.push(runtime.block_on(measure(scenario, stack, &ways, rounds, &place, output))?);
        }
    }
    let report = Report::of(measured, machine, rounds);
    output.write("forward", &report, &report.to_markdown())
}

impl Args {
    fn selects(&self, stack: Stack) -> bool {
        self.stack.is_empty() || self.stack.contains(&stack)
    }
}

/// Builds the Go program; `None`, with a message, if this machine has no Go.
fn go_program(folder: &Path, output: &Output) -> Result<Option<PathBuf>> {
    if go_program::version().is_none() {
        output.progress("client and server in Go are left out, because go is not on PATH");
        return Ok(None);
    }
    go_program::build(folder).map(Some)
}

fn run_install(packages: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--no-install-recommends"]).args(packages).env("DEBIAN_FRONTEND", "noninteractive");
    // The results may be read from standard output, so nothing else may be printed there.
    let status = command.stdout(std::io::stderr()).status().context("cannot start apt-get")?;
    ensure!(status.success(), "apt-get failed: {status}");
    Ok(())
}

/// All rounds of one scenario. The order of ways rotates from round to round, so that no way is always first or always after the
/// same one.
async fn measure(
    scenario: Scenario,
    stack: Stack,
    ways: &[Way],
    rounds: usize,
    place: &Inputs,
    output: &Output,
) -> Result<Measured> {
    let upstream = Upstream::start(stack, scenario.http(), place)?;
    let fresh = scenario.load() == Load::Idle;
    let rounds = if fresh { rounds.min(MEMORY_ROUNDS) } else { rounds };
    let mut samples: Vec<(Way, Vec<Sample>)> = ways.iter().map(|&way| (way, Vec::new())).collect();
    let mut missed = Missed::default();
    let mut open = Vec::new();
    for round in 0..rounds {
        output.progress(&format!("{}, {}: round {} of {rounds}", scenario.name(), stack.name(), round + 1));
        if open.is_empty() {
            open = ways.iter().map(|&way| Open::start(way, &upstream, place)).collect::<Result<Vec<_>>>()?;
        }
        for step in 0..open.len() {
            let at = (step + round) % open.len();
            let (Some(one), Some((way, of_way))) = (open.get(at), samples.get_mut(at)) else { continue };
            let sample = one.measure(scenario, place).await;
            of_way.push(sample.with_context(|| format!("{}, {}", scenario.name(), way.name()))?);
        }
        if fresh || round + 1 == rounds {
            for one in open.drain(..) {
                let is_watchtap = one.way() == Way::WatchtapOn;
                let of_one = one.stop(place)?;
                if is_watchtap {
                    missed = of_one;
                }
            }
        }
    }
    Ok(Measured { scenario, stack, samples, missed })
}
