//! Building the object so that its bytes depend on the sources and the tools alone, not on the folders in which they lie.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::object::Object;
use super::toolchain::{Toolchain, run};
use crate::workspace;

const TARGET: &str = "bpfel-unknown-none";
const PROFILE: &str = "programs";
const BINARY: &str = "watchtap-programs";

/// The crates that may use what is not stable: the instructions of BPF, in assembly.
const UNSTABLE: &str = "aya_ebpf,watchtap_programs";

/// Builds the programs and puts the object, without its debug information but with its BTF, at `path`.
pub(super) fn object(toolchain: &Toolchain, path: &Path) -> anyhow::Result<Object> {
    // First, because where their sources lie is known only then.
    run(workspace::cargo().args(["fetch", "--quiet", "--locked", "--target", TARGET]))?;
    let folder = workspace::target().join("ebpf/build");
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--locked", "--package", "observer-ebpf", "--bin", BINARY, "--features", "programs"]);
    cargo.args(["--profile", PROFILE, "--target", TARGET]).arg("--target-dir").arg(&folder);
    cargo.env("RUSTC", toolchain.rustc()).env("RUSTC_BOOTSTRAP", UNSTABLE).env("LD_LIBRARY_PATH", toolchain.libraries());
    cargo.env("CARGO_TARGET_BPFEL_UNKNOWN_NONE_LINKER", toolchain.linker());
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags()?.join("\u{1f}"));
    // What a person has set for other builds.
    for variable in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER", "RUSTUP_TOOLCHAIN"] {
        cargo.env_remove(variable);
    }
    run(&mut cargo).context("the programs do not build: see cargo's messages above")?;
    let linked = folder.join(TARGET).join(PROFILE).join(BINARY);
    run(toolchain.strip().arg("--strip-debug").arg("-o").arg(path).arg(&linked))?;
    Object::built(path, toolchain.versions()?)
}

/// The flags of the compiler. The registers that the programs read are those of x86-64, whatever builds them.
fn flags() -> anyhow::Result<Vec<String>> {
    let mut flags = vec![
        String::from("--cfg=bpf_target_arch=\"x86_64\""),
        String::from("-Ctarget-cpu=v3"),
        String::from("-Clink-arg=--btf"),
        remapped(&workspace::root(), "/watchtap"),
    ];
    for sources in registry_sources()? {
        flags.push(remapped(&sources, "/registry"));
    }
    Ok(flags)
}

fn remapped(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
}

/// The folders in which cargo unpacks packages: one a registry, named after it.
fn registry_sources() -> anyhow::Result<Vec<PathBuf>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let folder = home.context("cannot tell where cargo keeps packages: set CARGO_HOME")?.join("registry/src");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut folders = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    folders.sort();
    Ok(folders)
}
