//! The fuzz command: which targets run, for how long, and the results.

use std::process::ExitCode;
use std::time::Duration;

use super::running;
use super::summary::Summary;
use super::target::Target;
use super::tools;
use crate::duration;

/// Fuzz the code that reads untrusted bytes with inputs derived from recorded traffic, and check its invariants.
///
/// Needs a nightly compiler and cargo-fuzz. Inputs worth keeping go to target/fuzz/corpus, where the next run starts;
/// docs/fuzzing.md has figures, and describes the assertions of each target.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// One target instead of all in turn
    target: Option<String>,

    /// Duration per target, such as 30s, 10m or 1h
    #[arg(long = "for", value_name = "DURATION", default_value = "1m", value_parser = duration::parse)]
    time: Duration,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Returns a failure if a target failed on an input.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let targets = Target::chosen(args.target.as_deref())?;
    tools::require()?;
    tools::build(&targets)?;
    let mut summary = Summary::default();
    for target in &targets {
        let run = running::run(target, args.time)?;
        if let Some(find) = &run.find {
            eprintln!("\n{}\n", target.advice(find));
        }
        summary.add(target, run);
    }
    if args.json {
        println!("{:#}", summary.to_json());
    } else {
        print!("{summary}");
    }
    Ok(if summary.found_nothing() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
