//! `cargo xtask run`: builds a release watchtap and runs it.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use anyhow::Context;

use crate::workspace;

/// Build watchtap (release) and run it.
///
/// If the current context of your kubeconfig answers, this is `watchtap run` in front of its API server. Otherwise it is
/// `watchtap demo`, a cluster within the process, with a message that states why.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Arguments for watchtap, instead of `run --or-demo`
    #[arg(last = true, value_name = "ARGS")]
    watchtap_args: Vec<String>,
}

const RUN: &[&str] = &["run", "--or-demo"];

/// Replaces this process by watchtap, so that Ctrl-C reaches only watchtap.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let arguments = ["build", "--release", "--package", "observer", "--bin", "watchtap"];
    let built = workspace::cargo().args(arguments).status().context("cannot start cargo")?;
    if !built.success() {
        anyhow::bail!("watchtap does not build: see cargo's messages above");
    }
    let chosen: Vec<&str> =
        if args.watchtap_args.is_empty() { RUN.to_vec() } else { args.watchtap_args.iter().map(String::as_str).collect() };
    println!("$ watchtap {}", chosen.join(" "));
    // watchtap is started by cargo, since only cargo knows the location of the target folder. Everything is built already, and
    // cargo replaces its own process by watchtap, too.
    let run = ["run", "--quiet", "--release", "--package", "observer", "--bin", "watchtap", "--"];
    Err(workspace::cargo().args(run).args(chosen).exec()).context("cannot start watchtap")
}
