//! Builds the static program of an image reproducibly: its bytes depend only on the source, the Rust release and the C compiler.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};

use super::c_compiler::CCompiler;
use super::packages::EBPF_TARGET;
use super::source::Source;
use super::static_program;
use crate::architecture::Architecture;
use crate::{remapping, standard_library, workspace};

/// The features of the package `observer` in an image: no demo.
pub(super) const FEATURES: &str = "ebpf";

/// Beginnings of the names of variables that the build gets: where programs, caches and registries are. All other variables are the
/// caller's settings for other builds, such as `CFLAGS`, `RUSTFLAGS` and `CARGO_PROFILE_RELEASE_LTO`.
const PASSED_ON: [&str; 14] = [
    "CARGO_BUILD_JOBS",
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_SOURCE_",
    "CARGO_TERM_",
    "HOME",
    "PATH",
    "RUSTUP_",
    "SSL_CERT_",
    "TERM",
    "TMPDIR",
];

/// The variable that names the library with the clock of `--check`. A library that the caller preloads has no effect on a build.
pub(super) const CLOCK: &str = "WATCHTAP_IMAGE_CLOCK";

/// Downloads and unpacks the sources of all linked packages.
pub(super) fn fetch(architecture: Architecture) -> anyhow::Result<()> {
    run(cargo(["fetch", "--quiet", "--locked", "--target", architecture.target(), "--target", EBPF_TARGET]))
}

/// Builds the program for `architecture`, after [`fetch`]. `Err` is a reason to leave the architecture out: its standard library cannot be
/// installed.
pub(super) fn program(architecture: Architecture, compiler: &CCompiler, source: &Source) -> anyhow::Result<Vec<u8>> {
    let begun = Instant::now();
    println!("== {}: building watchtap (some minutes if nothing is built yet)", architecture.name());
    let target = architecture.target();
    let mut cargo = cargo(["build", "--release", "--locked", "--package", "observer", "--bin", "watchtap"]);
    cargo.args(["--no-default-features", "--features", FEATURES, "--target", target, "--target-dir"]).arg(folder());
    let suffix = target.replace('-', "_");
    cargo.env(format!("CC_{suffix}"), compiler.path(architecture)).env(format!("AR_{suffix}"), compiler.archiver());
    // The linker of the Rust release. With musl, it needs no C compiler around it.
    cargo.env(format!("CARGO_TARGET_{}_LINKER", suffix.to_uppercase()), "rust-lld");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags()?.join("\u{1f}"));
    // mimalloc contains the date of its compilation. It is a constant, because cargo does not compile C code again when it changes.
    cargo.env("SOURCE_DATE_EPOCH", "0");
    cargo.env("WATCHTAP_REVISION", source.revision.as_deref().unwrap_or_default());
    run(cargo).context("watchtap does not build: see cargo's messages above")?;
    let path = program_path(architecture);
    let program = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    static_program::check(&program, architecture)?;
    println!("== {}: built in {:.1} s", architecture.name(), begun.elapsed().as_secs_f64());
    Ok(program)
}

/// Installs the standard library for `architecture`. The error is the reason why no program can be built for it.
pub(super) fn prepare(architecture: Architecture) -> Result<(), String> {
    let target = architecture.target();
    standard_library::install(target).map_err(|why| format!("no standard library: `rustup target add {target}`: {why}"))
}

pub(super) fn program_path(architecture: Architecture) -> PathBuf {
    folder().join(architecture.target()).join("release/watchtap")
}

/// This folder is separate, because the flags differ from those of other builds.
fn folder() -> PathBuf {
    workspace::target().join("image/build")
}

fn flags() -> anyhow::Result<Vec<String>> {
    let mut flags = remapping::flags()?;
    // Code that build scripts generate.
    flags.push(remapping::flag(&folder(), "/target"));
    // Where rustup has the source of the standard library, the compiler replaces the names in the released one by names on this machine.
    let sources = super::packages::sysroot()?.join("lib/rustlib/src/rust");
    flags.push(remapping::flag(&sources, &format!("/rustc/{}", super::packages::RustRelease::installed()?.commit)));
    Ok(flags)
}

/// A cargo command with only the variables that may have an effect.
fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut cargo = workspace::cargo();
    cargo.env_clear().envs(std::env::vars_os().filter(|(name, _)| is_passed_on(name))).args(arguments);
    cargo.envs(std::env::var_os(CLOCK).map(|clock| ("LD_PRELOAD", clock)));
    // An empty value also replaces the one in the user's configuration of cargo.
    cargo.env("RUSTC_WRAPPER", "").env("RUSTC_WORKSPACE_WRAPPER", "");
    cargo
}

fn is_passed_on(name: &OsString) -> bool {
    let Some(name) = name.to_str() else { return false };
    let is_proxy = name.to_ascii_lowercase().ends_with("_proxy");
    is_proxy
        || PASSED_ON
            .iter()
            .any(|beginning| name.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || beginning.ends_with('_')))
}

fn run(mut cargo: Command) -> anyhow::Result<()> {
    let status = cargo.status().context("cannot start cargo")?;
    ensure!(status.success(), "cargo failed: {status}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_other_builds_have_no_effect() {
        for name in ["CARGO_HOME", "CARGO_REGISTRIES_CRATES_IO_INDEX", "https_proxy", "NO_PROXY", "PATH", "RUSTUP_TOOLCHAIN"] {
            assert!(is_passed_on(&name.into()), "{name}");
        }
        for name in [
            "CFLAGS",
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_HOMES",
            "CC",
            "LD_PRELOAD",
            "PATHEXT",
        ] {
            assert!(!is_passed_on(&name.into()), "{name}");
        }
    }
}
