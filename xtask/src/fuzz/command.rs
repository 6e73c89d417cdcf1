//! The command `cargo xtask fuzz`: runs one target or all of them, and prints the results.

use std::process::ExitCode;
use std::time::Duration;

use super::running;
use super::summary::Summary;
use super::target::Target;
use super::tools;
use crate::duration;

/// Fuzz the code that reads untrusted bytes, and check its invariants; the inputs are derived from recorded traffic.
///
/// Needs a nightly compiler and cargo-fuzz. Inputs that reached new code are kept in target/fuzz/corpus, and the next run starts
/// with them. docs/fuzzing.md has results, and describes the assertions of each target.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run one target instead of all in turn
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
