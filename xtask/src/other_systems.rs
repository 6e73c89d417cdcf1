//! `cargo xtask other-systems`: runs `cargo check` of watchtap for operating systems and processors other than those of this machine.
//!
//! `cargo check` links nothing. But some build scripts, such as that of the TLS library, need a C compiler for the other system.
//! They get a substitute that writes empty files. So this shows that the Rust code compiles for that system, but not that the
//! program links or runs.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};

use crate::{standard_library, workspace};

/// The targets: systems where controllers are developed, and where they run.
const TARGETS: [&str; 3] = ["aarch64-apple-darwin", "x86_64-apple-darwin", "aarch64-unknown-linux-gnu"];

/// A substitute for a C compiler. It answers `-E`, with which build scripts identify a compiler.
const COMPILER: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
  -o) shift; : > "$1" ;;
  -E | --version) echo clang ;;
  esac
  shift
done
"#;

/// A substitute for `ar`.
const ARCHIVER: &str = r#"#!/bin/sh
for word in "$@"; do
  case "$word" in *.a) printf '!<arch>\n' > "$word" ;; esac
done
"#;

/// Check that watchtap compiles for Apple's systems and for Linux on arm64.
///
/// Missing standard libraries are installed with rustup; a target without one is skipped and named. Nothing is linked, and C code is left
/// out.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Returns an error if watchtap does not compile for one of the targets.
pub(crate) fn execute(_: &Args) -> anyhow::Result<ExitCode> {
    check()?;
    Ok(ExitCode::SUCCESS)
}

/// Checks each target whose standard library is installed or can be installed, and prints the others. Fails if one does not
/// compile.
pub(crate) fn check() -> anyhow::Result<()> {
    let stand_ins = StandIns::write(&workspace::target().join("no-c-compiler"))?;
    // All of them come first: rustup must not run twice at the same time, and `cargo xtask image` may call it some minutes later.
    let installed = TARGETS.map(|target| (target, standard_library::install(target)));
    for (target, installed) in installed {
        if let Err(why) = installed {
            println!("== {target}: left out, its standard library is not here and cannot be had: {why}");
            continue;
        }
        let arguments = ["check", "--locked", "--package", "observer", "--lib", "--bins", "--target", target];
        let status = stand_ins.cargo(target).args(arguments).status().context("cannot start cargo")?;
        if !status.success() {
            bail!("watchtap does not compile for {target}");
        }
        println!("== {target}: compiles; its C code was left out, and nothing was linked");
    }
    Ok(())
}

/// The substitutes for programs of another system.
struct StandIns {
    compiler: PathBuf,
    archiver: PathBuf,
}

impl StandIns {
    fn write(folder: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)?;
        let [compiler, archiver] = [("cc", COMPILER), ("ar", ARCHIVER)].map(|(name, text)| (folder.join(name), text));
        for (path, text) in [&compiler, &archiver] {
            fs::write(path, text)?;
            fs::set_permissions(path, Permissions::from_mode(0o755))?;
        }
        Ok(Self { compiler: compiler.0, archiver: archiver.0 })
    }

    /// Makes a `cargo check` command. It has a separate target folder: with a different C compiler in the same folder, each build
    /// would run the build scripts again.
    fn cargo(&self, target: &str) -> Command {
        let suffix = target.replace('-', "_");
        let mut cargo = workspace::cargo();
        cargo.env("CARGO_TARGET_DIR", workspace::target().join("other-systems"));
        for (variable, program) in [("CC", &self.compiler), ("CXX", &self.compiler), ("AR", &self.archiver)] {
            cargo.env(format!("{variable}_{suffix}"), program);
        }
        // Without this variable, build scripts would call Xcode's programs.
        cargo.env("SDKROOT", workspace::target());
        cargo
    }
}
