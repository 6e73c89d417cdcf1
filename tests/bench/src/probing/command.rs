//! The command of the bench `probing`: measures the clients in each mode, then at each rate, and writes the report.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::awake::Awake;
use super::client::Client;
use super::crowd::Crowd;
use super::mode::{Mode, Standing};
use super::processors::Processors;
use super::report::{AtRate, Idle, Report, Sample};
use crate::credentials::Credentials;
use crate::machine::Machine;
use crate::output::Output;
use crate::server_process::ServerProcess;

/// Measure clients without probes, under empty uprobes and under watchtap, in turn; needs the permissions of a probe
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of measurements for each client and mode
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    #[command(flatten)]
    output: Output,
}

/// Exchanges per sample: one write and one read each.
const EXCHANGES: u64 = 10_000;
/// Calls per second at which the cost is measured; an exchange has two.
const RATES: [u64; 3] = [1_000, 10_000, 50_000];
/// Duration of each rate, in seconds.
const SECONDS: u64 = 5;
/// Duration of each measurement with nothing to observe, in seconds. All processes are examined every five seconds.
const IDLE_SECONDS: u64 = 30;

/// Numbers of idle processes beside those of the machine.
const CROWDS: [usize; 2] = [0, 2_000];

/// Runs all measurements and writes the report.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let (exchanges, rounds, seconds) = if args.output.smoke { (500, 1, 1) } else { (EXCHANGES, args.rounds, SECONDS) };
    let machine = Machine::now();
    let folder = tempfile::tempdir().context("no private folder for this run")?;
    let credentials = Credentials::generate(folder.path())?;
    let processors = Processors::allowed()?;
    let (_upstream, port) = processors.on_that_of_the_server(|| upstream(&credentials, folder.path()))?;
    let awake = Awake::all(&processors)?;
    let mut samples = Vec::new();
    let mut at_rates = Vec::new();
    for client in Client::all(folder.path())? {
        let run = |exchanges, rate| processors.on_that_of_the_client(|| client.run(port, &credentials.authority, exchanges, rate));
        for round in 0..rounds {
            args.output.progress(&format!("probing: {}, round {} of {rounds}", client.name, round + 1));
            // The machine may become faster or slower within a round.
            for mode in Mode::ALL.into_iter().cycle().skip(usize::try_from(round)?).take(Mode::ALL.len()) {
                let running = mode.stand(&client, port, folder.path())?;
                let before = running.cpu()?;
                let spent = run(exchanges, 0)?;
                let watchtap = running.cpu()?.saturating_sub(before);
                running.end(folder.path())?;
                samples.push(Sample::of(client.name, mode, exchanges, spent, watchtap));
            }
        }
        for rate in RATES {
            args.output.progress(&format!("probing: {}, {rate} calls a second", client.name));
            let unprobed = run(seconds * rate / 2, rate / 2)?;
            let running = Mode::Read.stand(&client, port, folder.path())?;
            let before = running.cpu()?;
            let spent = run(seconds * rate / 2, rate / 2)?;
            let watchtap = running.cpu()?.saturating_sub(before);
            let missed = running.end(folder.path())?;
            at_rates.push(AtRate::of(client.name, rate, seconds * rate, unprobed, spent, watchtap, missed));
        }
    }
    awake.end()?;
    let (crowds, seconds) = if args.output.smoke { (&CROWDS[..1], 1) } else { (&CROWDS[..], IDLE_SECONDS) };
    let mut idle = Vec::new();
    for &size in crowds {
        args.output.progress(&format!("probing: nothing to observe, beside {size} processes"));
        idle.push(idle_beside(size, port, folder.path(), seconds)?);
    }
    let report = Report::of(&samples, at_rates, idle, machine)?;
    args.output.write("probing", &report, &report.to_markdown())
}

/// Measures a probe that observes nothing, beside this many more processes.
fn idle_beside(size: usize, port: u16, folder: &Path, seconds: u64) -> Result<Idle> {
    let _crowd = Crowd::of(size)?;
    let running = Standing::of_watchtap(port, &[], folder)?;
    let before = running.cpu()?;
    thread::sleep(Duration::from_secs(seconds));
    let idle = Idle::of(size, seconds, running.cpu()?.saturating_sub(before), running.memory()?);
    running.end(folder)?;
    Ok(idle)
}

fn upstream(credentials: &Credentials, folder: &Path) -> Result<(ServerProcess, u16)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["upstream", "--http", "h1", "--list-bytes", "1000", "--events-per-second", "1"]);
    command.arg("--certificate").arg(&credentials.certificate).arg("--key").arg(&credentials.key);
    let mut process = ServerProcess::start("upstream", &command, folder)?;
    let mut line = String::new();
    BufReader::new(process.stdout()?).read_line(&mut line)?;
    Ok((process, line.trim().parse().context("the server said no port")?))
}
