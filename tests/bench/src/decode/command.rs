//! The command itself: bodies, rounds, report.

use anyhow::Result;

use super::body::ListKind;
use super::measuring::{Measured, Reference};
use super::report::Report;
use crate::machine::Machine;
use crate::output::Output;

/// Read JSON lists of 1, 10 and 100 MB, and compare with a full parse by `serde_json`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How often each body is read by both
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    #[command(flatten)]
    output: Output,
}

/// A megabyte as networks and disks have it.
const MEGABYTE: usize = 1_000_000;

/// Measures and reports.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let (sizes, rounds) = if args.output.smoke {
        (&[MEGABYTE / 100][..], 1)
    } else {
        (&[MEGABYTE, 10 * MEGABYTE, 100 * MEGABYTE][..], usize::try_from(args.rounds)?)
    };
    let machine = Machine::now();
    let mut measured = Vec::new();
    for kind in ListKind::ALL {
        for &size in sizes {
            measured.push(Measured::new(kind.json(size)?, Reference::SerdeJsonValue)?);
        }
    }
    for round in 0..rounds {
        args.output.progress(&format!("decoding: round {} of {rounds}", round + 1));
        for one in &mut measured {
            one.round(round)?;
        }
    }
    let report = Report::of(&measured, machine, rounds);
    args.output.write("decode", &report, &report.to_markdown())
}
