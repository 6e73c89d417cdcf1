//! The command of the bench `decode`: measures all bodies, and writes the report.

use anyhow::Result;

use super::body::ListKind;
use super::measuring::{Measured, Reference};
use super::report::Report;
use crate::machine::Machine;
use crate::output::Output;

/// Read lists of 1, 10 and 100 MB in JSON, protobuf, CBOR and gzip, and compare each with a full parse by a library
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of times that both decoders read each body
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    #[command(flatten)]
    output: Output,
}

/// A decimal megabyte, in bytes.
const MEGABYTE: usize = 1_000_000;

/// Runs all measurements and writes the report.
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
    // The other encodings are measured only at the size for which there are budgets.
    let size = if args.output.smoke { MEGABYTE / 100 } else { 10 * MEGABYTE };
    for kind in [ListKind::Pods, ListKind::Secrets] {
        measured.push(Measured::new(kind.protobuf(size)?, Reference::Prost)?);
    }
    for kind in [ListKind::Pods, ListKind::CustomResources] {
        measured.push(Measured::new(kind.cbor(size)?, Reference::CiboriumValue)?);
    }
    for inflate in [Reference::InflateZlibRs, Reference::InflateMinizOxide, Reference::InflateLibdeflate] {
        measured.push(Measured::new(ListKind::Pods.json_in_gzip(size)?, inflate)?);
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
