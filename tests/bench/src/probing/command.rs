//! The command of the bench `probing`: measures the clients in each mode, then at each rate, and writes the report.

use std::io::{BufRead as _, BufReader};
use std::process::Command;

use anyhow::{Context, Result};

use super::client::Client;
use super::mode::Mode;
use super::report::{AtRate, Report, Sample};
use crate::credentials::Credentials;
use crate::machine::Machine;
use crate::output::Output;
use crate::server_process::ServerProcess;

/// Measure clients without probes, under empty uprobes and under watchtap, in turn; needs the permissions of a probe
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of measurements for each client and mode
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    #[command(flatten)]
    output: Output,
}

/// Exchanges per sample: one write and one read each.
const EXCHANGES: u64 = 20_000;
/// Calls per second at which the cost is measured; an exchange has two.
const RATES: [u64; 3] = [1_000, 10_000, 50_000];
/// Duration of each rate, in seconds.
const SECONDS: u64 = 5;

/// Runs all measurements and writes the report.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let (exchanges, rounds, seconds) = if args.output.smoke { (500, 1, 1) } else { (EXCHANGES, args.rounds, SECONDS) };
    let machine = Machine::now();
    let folder = tempfile::tempdir().context("no private folder for this run")?;
    let credentials = Credentials::generate(folder.path())?;
    let (_upstream, port) = upstream(&credentials, folder.path())?;
    let mut samples = Vec::new();
    let mut at_rates = Vec::new();
    for client in Client::all(folder.path())? {
        for round in 0..rounds {
            args.output.progress(&format!("probing: {}, round {} of {rounds}", client.name, round + 1));
            for mode in Mode::ALL {
                let running = mode.stand(&client, port, folder.path())?;
                let before = running.cpu()?;
                let spent = client.run(port, &credentials.authority, exchanges, 0)?;
                let watchtap = running.cpu()?.saturating_sub(before);
                running.end(folder.path())?;
                samples.push(Sample::of(client.name, mode, exchanges, spent, watchtap));
            }
        }
        for rate in RATES {
            args.output.progress(&format!("probing: {}, {rate} calls a second", client.name));
            let unprobed = client.run(port, &credentials.authority, seconds * rate / 2, rate / 2)?;
            let running = Mode::Read.stand(&client, port, folder.path())?;
            let before = running.cpu()?;
            let spent = client.run(port, &credentials.authority, seconds * rate / 2, rate / 2)?;
            let watchtap = running.cpu()?.saturating_sub(before);
            let missed = running.end(folder.path())?;
            at_rates.push(AtRate::of(client.name, rate, seconds * rate, unprobed, spent, watchtap, missed));
        }
    }
    let report = Report::of(&samples, at_rates, machine)?;
    args.output.write("probing", &report, &report.to_markdown())
}

fn upstream(credentials: &Credentials, folder: &std::path::Path) -> Result<(ServerProcess, u16)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["upstream", "--http", "h1", "--list-bytes", "1000", "--events-per-second", "1"]);
    command.arg("--certificate").arg(&credentials.certificate).arg("--key").arg(&credentials.key);
    let mut process = ServerProcess::start("upstream", &command, folder)?;
    let mut line = String::new();
    BufReader::new(process.stdout()?).read_line(&mut line)?;
    Ok((process, line.trim().parse().context("the server said no port")?))
}
