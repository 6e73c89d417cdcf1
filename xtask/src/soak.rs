//! `cargo xtask soak`: a long run of `tests/soak`, which `cargo xtask test` runs for some minutes.

use std::fs;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;

use crate::duration;
use crate::workspace;

/// Run many kinds of clients behind one watchtap, with a real API server under churn and a fault every few seconds.
///
/// During the run, all bytes that enter watchtap on one side are compared with those that leave it on the other side. After each
/// fault, all clients must catch up, each open descriptor of watchtap must be explained, and its memory must be bounded. At the
/// end, its memory must not have grown, and its numbers must equal independent counts. docs/soak.md has results. Needs Go. The
/// first run builds servers and clients, which takes some minutes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Duration, such as 30s, 10m or 1h
    #[arg(long = "for", value_name = "DURATION", default_value = "5m", value_parser = duration::parse)]
    time: Duration,

    /// Seed of the faults and their order, as an earlier run printed it [default: a random one]
    #[arg(long)]
    seed: Option<u64>,

    /// Print the figures as JSON; progress goes to stderr
    #[arg(long)]
    json: bool,
}

/// The environment variables that the test reads.
const SECONDS: &str = "WATCHTAP_TESTS_SOAK_SECONDS";
const SEED: &str = "WATCHTAP_TESTS_SOAK_SEED";

/// Runs the soak test. Returns a failure if bytes were lost or changed, resources leaked, or a count is wrong.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => SystemTime::now().duration_since(UNIX_EPOCH).context("the clock stands before 1970")?.as_secs(),
    };
    anyhow::ensure!(workspace::build_for_tests()?, "it does not build: see cargo's messages above");
    let mut soak = workspace::cargo();
    soak.args(["test", "--workspace", "--test", "soak", "--", "--nocapture"]);
    soak.env(SECONDS, args.time.as_secs().to_string()).env(SEED, seed.to_string());
    if args.json {
        soak.stdout(Stdio::from(std::io::stderr()));
    }
    let status = soak.status().context("cannot start cargo")?;
    if !status.success() {
        eprintln!("\nthe same faults in the same order: cargo xtask soak --for {}s --seed {seed}", args.time.as_secs());
        return Ok(ExitCode::FAILURE);
    }
    if args.json {
        let figures = workspace::tests_left("soak").join("figures.json");
        print!("{}", fs::read_to_string(&figures).with_context(|| format!("cannot read {}", figures.display()))?);
    }
    Ok(ExitCode::SUCCESS)
}
