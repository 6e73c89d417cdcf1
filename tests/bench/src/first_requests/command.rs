//! The command of the bench `first-requests`: runs new programs with a probe that is ready, and with one just started.

use std::fs;

use anyhow::{Context, Result};
use observer_demo::{DemoConfig, DemoServer};

use super::new_program::Original;
use super::report::{Report, Row, Start};
use super::trial::{Asking, Stage};
use super::{PROGRAMS, go_client, kubectl};
use crate::machine::Machine;
use crate::output::Output;

/// Count the new programs that the probe sees from their first request; needs the permissions of a probe
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    output: Output,
}

/// Number of starts of a probe.
const STARTS: u32 = 10;

/// When the client in Go asks, in milliseconds after its start.
const WAITS: [u32; 2] = [0, 15];

/// Runs all programs and writes the report.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let (programs, starts) = if args.output.smoke { (2, 1) } else { (PROGRAMS, STARTS) };
    let machine = Machine::now();
    let folder = tempfile::tempdir().context("no private folder for this run")?;
    let server = DemoServer::start(DemoConfig::default())?;
    fs::write(folder.path().join("kubeconfig"), server.kubeconfig())?;
    let mut originals = vec![(go_client::build(folder.path())?, WAITS.map(|wait| Asking::Go { wait }).to_vec())];
    if let Some(program) = kubectl::find() {
        // Fills the cache.
        kubectl::get(&program, folder.path(), "default")?;
        originals.push((program, vec![Asking::Kubectl]));
    }
    let mut stage = Stage { server: &server, folder: folder.path(), copies: 0 };
    let mut rows = Vec::new();
    for (file, ways) in originals {
        let mut original = Original::read(&file)?;
        for asking in ways {
            args.output.progress(&format!("first-requests: {asking:?}, {programs} programs"));
            rows.push(Row::of(asking, Start::Ready, &stage.run(&mut original, asking, programs)?));
            args.output.progress(&format!("first-requests: {asking:?}, {starts} starts of a probe"));
            let mut cold = Vec::new();
            for _ in 0..starts {
                cold.extend(stage.run(&mut original, asking, 1)?);
            }
            rows.push(Row::of(asking, Start::JustStarted, &cold));
        }
    }
    let report = Report::of(rows, machine);
    args.output.write("first-requests", &report, &report.to_markdown())
}
