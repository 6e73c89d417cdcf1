//! `cargo xtask ci`: all checks before a review, cheapest first, up to the first failure.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use xshell::{Shell, cmd};

use crate::test::{self, Group};
use crate::{other_systems, workspace};

/// Format, clippy, documentation, dependencies, house rules, other systems, tests; stops at the first failure.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Stop before the tests
    #[arg(long, conflicts_with = "require")]
    no_tests: bool,

    /// Test groups that must not be left out on this machine
    #[arg(long, value_enum, value_name = "GROUP", value_delimiter = ',')]
    require: Vec<Group>,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let shell = workspace::shell()?;
    step("format", "run `cargo fmt --all`", || Ok(cmd!(shell, "cargo fmt --all --check").run()?))?;
    step("clippy", "each warning is an error here", || {
        cmd!(shell, "cargo clippy --workspace --all-targets -- --deny warnings").run()?;
        let injected = ["--package", "observer-tests", "--features", "injected-faults", "--test", "panics"];
        Ok(cmd!(shell, "cargo clippy {injected...} -- --deny warnings").run()?)
    })?;
    step("documentation", "each warning is an error here", || {
        let cargo_doc = cmd!(shell, "cargo doc --workspace --no-deps").env("RUSTDOCFLAGS", "--deny warnings");
        Ok(cargo_doc.run()?)
    })?;
    dependencies(&shell)?;
    step("house rules", "each failed test says what to do; the rules are in xtask/src/tidy", || {
        Ok(cmd!(shell, "cargo test --workspace --bin xtask -- tidy:: --show-output").run()?)
    })?;
    step(
        "other systems",
        "what is of one system stands behind cfg; xtask/src/other_systems.rs says what is checked",
        other_systems::check,
    )?;
    if args.no_tests {
        return Ok(ExitCode::SUCCESS);
    }
    println!("\n== tests");
    test::execute(&test::Args::requiring(&args.require))
}

/// cargo-deny is not part of the toolchain and takes minutes to build, so a machine may lack it; the step then reports that. Known
/// vulnerabilities need the `RustSec` database from GitHub. If it cannot be fetched, that part is skipped with a message.
fn dependencies(shell: &Shell) -> anyhow::Result<()> {
    let has_cargo_deny = cmd!(shell, "cargo deny --version").quiet().ignore_stderr().read().is_ok();
    if !has_cargo_deny {
        println!("\n== dependencies: left out, cargo-deny is not installed (cargo install cargo-deny --locked)");
        return Ok(());
    }
    step("dependencies", "deny.toml has the rules and their reasons", || {
        Ok(cmd!(shell, "cargo deny check bans licenses sources").run()?)
    })?;
    if let Err(error) = cmd!(shell, "cargo deny fetch db").quiet().ignore_stdout().ignore_stderr().run() {
        println!("\n== vulnerabilities: left out, the advisory database cannot be fetched: {error}");
        return Ok(());
    }
    step("vulnerabilities", "update what is named, or write into deny.toml why it does no harm here", || {
        Ok(cmd!(shell, "cargo deny check --disable-fetch advisories").run()?)
    })
}

fn step(name: &str, remedy: &str, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    println!("\n== {name}");
    let begun = Instant::now();
    work().with_context(|| format!("ci stopped at {name}: {remedy}"))?;
    println!("== {name}: sound, {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}
