//! The command itself: which targets run, for how long, and what came of it.

use std::process::ExitCode;
use std::time::Duration;

use super::running;
use super::summary::Summary;
use super::target::Target;
use super::tools;
use crate::duration;

/// Feed what reads strangers' bytes with inputs made up from recorded traffic, and check what must hold of any.
///
/// Needs a nightly compiler and cargo-fuzz. What a run finds worth keeping goes to target/fuzz/corpus and is where the next run begins;
/// docs/fuzzing.md has figures, and says what each target asserts.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// One target instead of all, each in turn
    target: Option<String>,

    /// How long each target runs, such as 30s, 10m or 1h
    #[arg(long = "for", value_name = "DURATION", default_value = "1m", value_parser = duration::parse)]
    time: Duration,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Ends with a failure when an input was found by which a target fails.
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
