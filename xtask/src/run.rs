//! `cargo xtask run`: builds watchtap as it ships and shows it at work.

use std::process::{Command, ExitCode, Stdio};

use anyhow::Context;

use crate::workspace;

/// Build watchtap (release) and show it at work.
///
/// When the current context of your kubeconfig answers, this runs `watchtap exec -- kubectl get pods -A`: reads only, through a proxy
/// of its own. Otherwise it runs `watchtap explain` on one request, which needs no cluster. Both are stand-ins: `watchtap run` and the
/// embedded demo cluster do not exist in this version.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Arguments for watchtap, instead of that choice
    #[arg(last = true, value_name = "ARGS")]
    watchtap_args: Vec<String>,
}

const EXEC: &[&str] = &["exec", "--", "kubectl", "get", "pods", "-A"];
const EXPLAIN: &[&str] = &["explain", "GET /api/v1/pods?limit=500", "--server-version", "1.34.2"];

/// Ends with watchtap's own exit code.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let arguments = ["build", "--release", "--package", "observer", "--bin", "watchtap"];
    let built = workspace::cargo().args(arguments).status().context("cannot start cargo")?;
    if !built.success() {
        anyhow::bail!("watchtap does not build: see cargo's messages above");
    }
    let chosen = if args.watchtap_args.is_empty() { default_args() } else { args.watchtap_args.clone() };
    println!("$ watchtap {}", chosen.join(" "));
    // Through cargo, because only cargo knows which target folder is in use; nothing is left to build.
    let run = ["run", "--quiet", "--release", "--package", "observer", "--bin", "watchtap", "--"];
    let status = workspace::cargo().args(run).args(chosen).status().context("cannot start watchtap")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

fn default_args() -> Vec<String> {
    let args = match why_no_cluster_answers() {
        None => EXEC,
        Some(reason) => {
            println!("no cluster to watch ({reason}), so this only explains one request");
            EXPLAIN
        }
    };
    args.iter().copied().map(String::from).collect()
}

/// `None` when the current context of the kubeconfig answers.
fn why_no_cluster_answers() -> Option<&'static str> {
    let Some(has_context) = kubectl_succeeds(&["config", "current-context"]) else {
        return Some("kubectl is not on PATH");
    };
    if !has_context {
        return Some("kubectl finds no kubeconfig with a current context");
    }
    let answers = kubectl_succeeds(&["get", "--raw", "/version", "--request-timeout=3s"]);
    if answers == Some(true) { None } else { Some("the kubeconfig's current context does not answer") }
}

/// `None` when kubectl cannot be started.
fn kubectl_succeeds(args: &[&str]) -> Option<bool> {
    let silent = Command::new("kubectl").args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    silent.ok().map(|status| status.success())
}
