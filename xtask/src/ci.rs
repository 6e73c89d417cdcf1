//! `cargo xtask ci`: all checks before a review, cheapest first, up to the first failure.

use std::process::ExitCode;

use xshell::{Shell, cmd};

use crate::steps::Steps;
use crate::test::{self, Group};
use crate::{other_systems, workspace};

/// Run all checks before a review, up to the first failure: format, clippy, documentation, dependencies, house rules, other
/// systems, tests.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Stop before the tests
    #[arg(long, conflicts_with = "require")]
    no_tests: bool,

    /// Leave out the check for other systems; `cargo xtask other-systems` runs it alone
    #[arg(long)]
    no_other_systems: bool,

    /// Test groups that must run: if one is left out, that is a failure
    #[arg(long, value_enum, value_name = "GROUP", value_delimiter = ',')]
    require: Vec<Group>,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let mut steps = Steps::default();
    let checked = check(&mut steps).and_then(|()| if args.no_other_systems { Ok(()) } else { other_systems(&mut steps) });
    println!("\n{steps}");
    checked?;
    if args.no_tests {
        return Ok(ExitCode::SUCCESS);
    }
    println!("== tests");
    test::execute(&test::Args::requiring(&args.require))
}

/// All steps before the tests, except that for other systems.
fn check(steps: &mut Steps) -> anyhow::Result<()> {
    let shell = workspace::shell()?;
    steps.take("format", "run `cargo fmt --all`", || Ok(cmd!(shell, "cargo fmt --all --check").run()?))?;
    steps.take("clippy", "each warning is an error here", || {
        cmd!(shell, "cargo clippy --workspace --all-targets -- --deny warnings").run()?;
        let injected = ["--package", "observer-tests", "--features", "injected-faults", "--test", "panics"];
        cmd!(shell, "cargo clippy {injected...} -- --deny warnings").run()?;
        // Without its default features, watchtap has neither the demo nor the probe.
        Ok(cmd!(shell, "cargo clippy --package observer --no-default-features -- --deny warnings").run()?)
    })?;
    steps.take("documentation", "each warning is an error here", || {
        let cargo_doc = cmd!(shell, "cargo doc --workspace --no-deps").env("RUSTDOCFLAGS", "--deny warnings");
        Ok(cargo_doc.run()?)
    })?;
    dependencies(steps, &shell)?;
    shell_scripts(steps, &shell)?;
    steps.take("house rules", "each failed test says what to do; the rules are in xtask/src/tidy", || {
        Ok(cmd!(shell, "cargo test --workspace --bin xtask -- tidy:: --show-output").run()?)
    })
}

/// Runs shellcheck on the scripts that people and CI run, or prints that it is missing.
fn shell_scripts(steps: &mut Steps, shell: &Shell) -> anyhow::Result<()> {
    if cmd!(shell, "shellcheck --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        println!("\n== shell scripts: left out, shellcheck is not installed (Debian: shellcheck)");
        return Ok(());
    }
    // Functions of .ci/run are arguments of another one.
    steps.take("shell scripts", "each code is explained at https://www.shellcheck.net/wiki", || {
        cmd!(shell, "shellcheck --shell sh install.sh").run()?;
        Ok(cmd!(shell, "shellcheck --exclude SC2317,SC2329 .ci/run").run()?)
    })
}

fn other_systems(steps: &mut Steps) -> anyhow::Result<()> {
    let remedy = "what is of one system stands behind cfg; xtask/src/other_systems.rs says what is checked";
    steps.take("other systems", remedy, other_systems::check)
}

/// Runs cargo-deny, or prints that it is missing: it is not part of the toolchain, and takes minutes to build. The check for known
/// vulnerabilities needs the `RustSec` database from GitHub. If the database cannot be fetched, this check is skipped with a
/// message.
fn dependencies(steps: &mut Steps, shell: &Shell) -> anyhow::Result<()> {
    let has_cargo_deny = cmd!(shell, "cargo deny --version").quiet().ignore_stderr().read().is_ok();
    if !has_cargo_deny {
        println!("\n== dependencies: left out, cargo-deny is not installed (cargo install cargo-deny --locked)");
        return Ok(());
    }
    steps.take("dependencies", "deny.toml has the rules and their reasons", || {
        Ok(cmd!(shell, "cargo deny check bans licenses sources").run()?)
    })?;
    if let Err(error) = cmd!(shell, "cargo deny fetch db").quiet().ignore_stdout().ignore_stderr().run() {
        println!("\n== vulnerabilities: left out, the advisory database cannot be fetched: {error}");
        return Ok(());
    }
    steps.take("vulnerabilities", "update what is named, or write into deny.toml why it does no harm here", || {
        Ok(cmd!(shell, "cargo deny check --disable-fetch advisories").run()?)
    })
}
