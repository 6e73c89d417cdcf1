//! `cargo xtask chart`: the chart's objects for kustomize. Helm and the rendering belong to the tests (`tests/src/kustomize.rs`).

use std::process::{Command, ExitCode};

use anyhow::Context;

use crate::workspace;

/// Render deploy/chart into deploy/kustomize.
///
/// Needs Go: the first run builds Helm, which takes two or three minutes. The test group `chart` compares both.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compare the files instead, and fail if they differ
    #[arg(long)]
    check: bool,
}

/// The program of the tests that renders.
const PROGRAM: &str = "rendered-chart";

pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let built = workspace::cargo().args(["build", "--workspace", "--bin", PROGRAM]).status().context("cannot start cargo")?;
    anyhow::ensure!(built.success(), "it does not build: see cargo's messages above");
    let mut program = Command::new(workspace::target().join("debug").join(PROGRAM));
    let status = program.args(args.check.then_some("--check")).status().context("cannot start the program")?;
    if args.check && !status.success() {
        eprintln!("\nrun `cargo xtask chart`, and commit deploy/kustomize");
    }
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
