//! Builds the eBPF object reproducibly: its bytes depend only on the sources and the tools, not on folder names.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::object::Object;
use super::toolchain::{Toolchain, run};
use crate::workspace;

const TARGET: &str = "bpfel-unknown-none";
const PROFILE: &str = "programs";
const BINARY: &str = "watchtap-programs";

/// The crates that may use an unstable feature: BPF instructions in inline assembly.
const UNSTABLE: &str = "aya_ebpf,watchtap_programs";

/// Builds the programs and writes the object to `path`, without its debug information but with its BTF.
pub(super) fn object(toolchain: &Toolchain, path: &Path) -> anyhow::Result<Object> {
    // This is first, because the package sources are unpacked by it.
    run(workspace::cargo().args(["fetch", "--quiet", "--locked", "--target", TARGET]))?;
    let folder = workspace::target().join("ebpf/build");
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--locked", "--package", "observer-ebpf", "--bin", BINARY, "--features", "programs"]);
    cargo.args(["--profile", PROFILE, "--target", TARGET]).arg("--target-dir").arg(&folder);
    cargo.env("RUSTC", toolchain.rustc()).env("RUSTC_BOOTSTRAP", UNSTABLE).env("LD_LIBRARY_PATH", toolchain.libraries());
    cargo.env("CARGO_TARGET_BPFEL_UNKNOWN_NONE_LINKER", toolchain.linker());
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags()?.join("\u{1f}"));
    // These are the user's settings for other builds, and must not have an effect here.
    for variable in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER", "RUSTUP_TOOLCHAIN"] {
        cargo.env_remove(variable);
    }
    run(&mut cargo).context("the programs do not build: see cargo's messages above")?;
    let linked = folder.join(TARGET).join(PROFILE).join(BINARY);
    run(toolchain.strip().arg("--strip-debug").arg("-o").arg(path).arg(&linked))?;
    Object::built(path, toolchain.versions()?)
}

/// The compiler's flags. The programs always read x86-64 registers, even if another kind of machine builds them.
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

/// The folders of unpacked packages: one per registry, named after it.
fn registry_sources() -> anyhow::Result<Vec<PathBuf>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let folder = home.context("cannot tell where cargo keeps packages: set CARGO_HOME")?.join("registry/src");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut folders = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    folders.sort();
    Ok(folders)
}
