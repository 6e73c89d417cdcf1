//! The command `cargo xtask ebpf`: builds the eBPF objects, or compares new builds with the committed ones.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use super::build;
use super::object::{self, Object};
use super::toolchain::Toolchain;
use crate::architecture::Architecture;
use crate::workspace;

/// Build the eBPF programs, or check that the committed objects match their sources.
///
/// The objects observer-ebpf/watchtap.bpf.o (x86-64) and watchtap.arm64.bpf.o are committed, so that building watchtap needs no compiler
/// for BPF. Change the sources in observer-ebpf, run `cargo xtask ebpf build`, and commit each object with the file *.bpf.toml beside it,
/// which lists the tools that built it.
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
    /// Build the objects into observer-ebpf
    Build,
    /// Build the objects into target and compare them: with the same tools, the hashes must be the same; exit code 3 if no toolchain is
    /// available
    Check,
}

/// Exit code if no toolchain is available, for example because Debian's archive no longer has its packages.
const NOT_CHECKED: u8 = 3;

/// Returns a failure if a committed object differs from a build of its sources with the same tools.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let own = workspace::target().join("ebpf");
    let folder = args.toolchain.clone().unwrap_or_else(|| own.join("toolchain"));
    let toolchain = Toolchain::found_or_installed(&std::path::absolute(folder)?);
    match args.action {
        Action::Build => {
            let toolchain = toolchain?;
            for architecture in Architecture::ALL {
                let begun = Instant::now();
                let built = build::object(&toolchain, architecture, &object::committed(architecture))?;
                built.save_description()?;
                println!("built {} in {:.1} s, sha256 {}", built.path().display(), begun.elapsed().as_secs_f64(), built.sha256());
            }
            Ok(ExitCode::SUCCESS)
        }
        Action::Check => {
            let described = Architecture::ALL.map(|architecture| Object::described(&object::committed(architecture)));
            let toolchain = match toolchain {
                Ok(toolchain) => toolchain,
                Err(error) => {
                    eprintln!("not checked: {error:#}");
                    return Ok(ExitCode::from(NOT_CHECKED));
                }
            };
            let mut are_all_current = true;
            for (architecture, described) in Architecture::ALL.into_iter().zip(described) {
                let built = build::object(&toolchain, architecture, &own.join(object::file(architecture)))?;
                are_all_current &= is_current(&described?, &built);
            }
            Ok(if are_all_current { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

/// Prints the result of the comparison. Objects that other tools built cannot be compared, so they pass.
fn is_current(committed: &Object, built: &Object) -> bool {
    let name = committed.name();
    let differences = committed.tools_that_differ(built);
    if !differences.is_empty() {
        println!("{name}: the programs build; the committed object was built with other tools, so the two cannot be compared:");
        for difference in differences {
            println!("  {difference}");
        }
        return true;
    }
    if committed.sha256() == built.sha256() {
        println!("{name}: the committed object is what the sources make, sha256 {}", built.sha256());
        return true;
    }
    eprintln!("{name}: the committed object is not what the sources make: run `cargo xtask ebpf build` and commit what it writes");
    eprintln!("  committed: sha256 {}", committed.sha256());
    eprintln!("  built:     sha256 {}, in {}", built.sha256(), built.path().display());
    false
}
