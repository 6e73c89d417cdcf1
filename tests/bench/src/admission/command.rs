//! The command of the bench `webhook`: starts both webhooks, measures them in turn, and writes the report.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use tokio::time::{Duration, Instant, sleep};

use super::load::{Amounts, Times, connect, measure, review};
use super::report::Report;
use crate::credentials::Credentials;
use crate::machine::Machine;
use crate::output::Output;
use crate::server_process::ServerProcess;

/// Send 100 admissions a second to `watchtap webhook` and to a webhook that changes nothing, in turn
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of measurements for each webhook
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    #[command(flatten)]
    output: Output,
}

/// Time limit for the first handshake.
const START: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(10);

const FULL: Amounts = Amounts { reviews: 2_000, reviews_a_second: 100, connections: 16 };
const SMOKE: Amounts = Amounts { reviews: 20, reviews_a_second: 100, connections: 4 };

/// Runs all measurements and writes the report.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let output = &args.output;
    let machine = Machine::now();
    let folder = tempfile::tempdir().context("no private folder for this run")?;
    let credentials = Credentials::generate(folder.path())?;
    let (amounts, rounds) = if output.smoke { (SMOKE, 1) } else { (FULL, args.rounds) };
    // The servers are killed when the thread that started them ends, so that is the main thread.
    let (mut allowing, allowing_port) = allowing(&credentials, folder.path())?;
    let (mut watchtap, watchtap_port) = watchtap(&credentials, folder.path())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(await_certificate(watchtap_port)).with_context(|| watchtap.log())?;
    let review = review();
    let mut samples: [Vec<Times>; 2] = Default::default();
    for round in 0..rounds {
        output.progress(&format!("webhook: round {} of {rounds}", round + 1));
        for (place, (port, expects)) in [(allowing_port, "\"allowed\":true"), (watchtap_port, "\"patch\":")].into_iter().enumerate()
        {
            if let Some(samples) = samples.get_mut(place) {
                samples.push(runtime.block_on(measure(port, &review, amounts, expects))?);
            }
        }
    }
    let memory = watchtap.memory()?;
    allowing.stop()?;
    watchtap.stop()?;
    let [allowing, watchtap] = samples;
    let report = Report::of(&allowing, &watchtap, memory, review.len(), amounts, machine).context("no rounds")?;
    output.write("webhook", &report, &report.to_markdown())
}

/// The webhook reads its certificate after it listens.
async fn await_certificate(port: u16) -> Result<()> {
    let begun = Instant::now();
    loop {
        match connect(port).await {
            Ok(_connection) => return Ok(()),
            Err(error) if begun.elapsed() > START => return Err(error),
            Err(_handshake) => sleep(PAUSE).await,
        }
    }
}

fn allowing(credentials: &Credentials, folder: &Path) -> Result<(ServerProcess, u16)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("allowing").arg("--certificate").arg(&credentials.certificate).arg("--key").arg(&credentials.key);
    let mut process = ServerProcess::start("allowing", &command, folder)?;
    let mut line = String::new();
    BufReader::new(process.stdout()?).read_line(&mut line)?;
    let port = line.trim().parse().with_context(|| process.log())?;
    Ok((process, port))
}

fn watchtap(credentials: &Credentials, folder: &Path) -> Result<(ServerProcess, u16)> {
    let files = folder.join("certificate");
    fs::create_dir(&files)?;
    fs::copy(&credentials.certificate, files.join("tls.crt"))?;
    fs::copy(&credentials.key, files.join("tls.key"))?;
    let mut command = Command::new(std::env::current_exe()?.with_file_name("watchtap"));
    command.args(["webhook", "--image", "registry.example/watchtap:1", "--service", "watchtap.watchtap-system"]);
    command.args(["--metrics", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--certificate"]).arg(files);
    let mut process = ServerProcess::start("watchtap", &command, folder)?;
    let port = process.await_announced_port("admissions: https://")?;
    Ok((process, port))
}
