//! Checks that cargo-fuzz and a nightly compiler are installed, and builds the targets with them.

use std::process::{Command, Stdio};

use anyhow::Context;

use super::target::Target;
use crate::workspace;

/// Fails with installation instructions if a tool is missing.
pub(super) fn require() -> anyhow::Result<()> {
    let works = |subcommand: &[&str]| {
        let status = nightly().args(subcommand).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    anyhow::ensure!(
        works(&["--version"]),
        "the sanitizers need a nightly compiler: rustup toolchain install nightly --profile minimal"
    );
    anyhow::ensure!(works(&["fuzz", "--version"]), "cargo-fuzz is missing: cargo install cargo-fuzz --locked");
    Ok(())
}

/// Builds targets as they will run: optimised, with debug assertions and the address sanitizer.
pub(super) fn build(targets: &[Target]) -> anyhow::Result<()> {
    for target in targets {
        let status = cargo_fuzz("build", target).status().context("cannot start cargo")?;
        anyhow::ensure!(status.success(), "{} does not build: see cargo's messages above", target.name);
    }
    Ok(())
}

/// A cargo-fuzz command at the root of the workspace.
pub(super) fn cargo_fuzz(subcommand: &str, target: &Target) -> Command {
    let mut command = nightly();
    command.args(["fuzz", subcommand, "--fuzz-dir", target.package, "--target-dir", "target/fuzz/build"]);
    // With one codegen unit, cargo-fuzz's default, the build takes twice as long, and the target is hardly faster.
    command.args(["--codegen-units", "4", &target.name]);
    command
}

/// rustup's cargo: the one that runs this task does not accept `+nightly`.
fn nightly() -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(workspace::root()).arg("+nightly");
    command
}
