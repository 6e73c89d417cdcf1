//! The command `cargo xtask ebpf`: builds the eBPF object, or compares a new build with the committed one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use super::build;
use super::object::Object;
use super::toolchain::Toolchain;
use crate::workspace;

/// Build the eBPF programs, or check that the committed object matches their sources.
///
/// The object observer-ebpf/watchtap.bpf.o is committed, so that building watchtap needs no compiler for BPF. Change the sources in
/// observer-ebpf, run `cargo xtask ebpf build`, and commit the object with watchtap.bpf.toml, which lists the tools that built it.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,

    /// Folder of the toolchain, installed there if missing (Debian 12 on x86-64, about 140 MB of packages, a minute) [default:
    /// target/ebpf/toolchain]
    #[arg(long, global = true, value_name = "FOLDER")]
    toolchain: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Build the object into observer-ebpf
    Build,
    /// Build the object into target and compare it: with the same tools, the hash must be the same; exit code 3 if no toolchain is
    /// available
    Check,
}

/// Exit code if no toolchain is available, for example because Debian's archive no longer has its packages.
const NOT_CHECKED: u8 = 3;

/// Returns a failure if the committed object differs from a build of its sources with the same tools.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let own = workspace::target().join("ebpf");
    let folder = args.toolchain.clone().unwrap_or_else(|| own.join("toolchain"));
    let toolchain = Toolchain::found_or_installed(&std::path::absolute(folder)?);
    match args.action {
        Action::Build => {
            let toolchain = toolchain?;
            let built = build::object(&toolchain, &committed())?;
            built.save_description()?;
            println!("built {} in {:.1} s, sha256 {}", built.path().display(), begun.elapsed().as_secs_f64(), built.sha256());
            Ok(ExitCode::SUCCESS)
        }
        Action::Check => {
            let described = Object::described(&committed())?;
            let toolchain = match toolchain {
                Ok(toolchain) => toolchain,
                Err(error) => {
                    eprintln!("not checked: {error:#}");
                    return Ok(ExitCode::from(NOT_CHECKED));
                }
            };
            let built = build::object(&toolchain, &own.join("watchtap.bpf.o"))?;
            Ok(compare(&described, &built))
        }
    }
}

fn committed() -> PathBuf {
    workspace::root().join(Path::new("observer-ebpf/watchtap.bpf.o"))
}

fn compare(committed: &Object, built: &Object) -> ExitCode {
    let differences = committed.tools_that_differ(built);
    if !differences.is_empty() {
        println!("the programs build; the committed object was built with other tools, so the two cannot be compared:");
        for difference in differences {
            println!("  {difference}");
        }
        return ExitCode::SUCCESS;
    }
    if committed.sha256() == built.sha256() {
        println!("the committed object is what the sources make, sha256 {}", built.sha256());
        return ExitCode::SUCCESS;
    }
    eprintln!("the committed object is not what the sources make: run `cargo xtask ebpf build` and commit what it writes");
    eprintln!("  committed: sha256 {}", committed.sha256());
    eprintln!("  built:     sha256 {}, in {}", built.sha256(), built.path().display());
    ExitCode::FAILURE
}
