//! `cargo xtask run`: builds watchtap as it ships and runs it.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use anyhow::Context;

use crate::workspace;

/// Build watchtap (release) and run it.
///
/// When the current context of your kubeconfig answers, this is `watchtap run` in front of its API server; otherwise it is `watchtap demo`,
/// a cluster that lives in the process, and says why.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Arguments for watchtap, instead of `run --or-demo`
    #[arg(last = true, value_name = "ARGS")]
    watchtap_args: Vec<String>,
}

const RUN: &[&str] = &["run", "--or-demo"];

/// Becomes watchtap: so a ctrl-C is for it alone.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let arguments = ["build", "--release", "--package", "observer", "--bin", "watchtap"];
    let built = workspace::cargo().args(arguments).status().context("cannot start cargo")?;
    if !built.success() {
        anyhow::bail!("watchtap does not build: see cargo's messages above");
    }
    let chosen: Vec<&str> =
        if args.watchtap_args.is_empty() { RUN.to_vec() } else { args.watchtap_args.iter().map(String::as_str).collect() };
    println!("$ watchtap {}", chosen.join(" "));
    // Through cargo, because only cargo knows which target folder is in use; nothing is left to build, and it becomes watchtap, too.
    let run = ["run", "--quiet", "--release", "--package", "observer", "--bin", "watchtap", "--"];
    Err(workspace::cargo().args(run).args(chosen).exec()).context("cannot start watchtap")
}
