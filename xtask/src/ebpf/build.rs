//! Builds an eBPF object reproducibly: its bytes depend only on the sources and the tools, not on folder names.

use std::path::Path;

use anyhow::Context;

use super::object::Object;
use super::toolchain::{Toolchain, run};
use crate::architecture::Architecture;
use crate::{remapping, workspace};

const TARGET: &str = "bpfel-unknown-none";
const PROFILE: &str = "programs";
const BINARY: &str = "watchtap-programs";

/// The crates that may use an unstable feature: BPF instructions in inline assembly.
const UNSTABLE: &str = "aya_ebpf,watchtap_programs";

/// Builds the programs for an architecture and writes the object to `path`, without its debug information but with its BTF.
pub(super) fn object(toolchain: &Toolchain, architecture: Architecture, path: &Path) -> anyhow::Result<Object> {
    // This is first, because the package sources are unpacked by it.
    run(workspace::cargo().args(["fetch", "--quiet", "--locked", "--target", TARGET]))?;
    let folder = workspace::target().join("ebpf/build").join(architecture.rust_name());
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--locked", "--package", "observer-ebpf", "--bin", BINARY, "--features", "programs"]);
    cargo.args(["--profile", PROFILE, "--target", TARGET]).arg("--target-dir").arg(&folder);
    cargo.env("RUSTC", toolchain.rustc()).env("RUSTC_BOOTSTRAP", UNSTABLE).env("LD_LIBRARY_PATH", toolchain.libraries());
    cargo.env("CARGO_TARGET_BPFEL_UNKNOWN_NONE_LINKER", toolchain.linker());
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags(architecture)?.join("\u{1f}"));
    // These are the user's settings for other builds, and must not have an effect here.
    for variable in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER", "RUSTUP_TOOLCHAIN"] {
        cargo.env_remove(variable);
    }
    run(&mut cargo).context("the programs do not build: see cargo's messages above")?;
    let linked = folder.join(TARGET).join(PROFILE).join(BINARY);
    run(toolchain.strip().arg("--strip-debug").arg("-o").arg(path).arg(&linked))?;
    Object::built(path, toolchain.versions()?)
}

/// The compiler's flags. The programs read the registers of `architecture`, whichever kind of machine builds them.
fn flags(architecture: Architecture) -> anyhow::Result<Vec<String>> {
    let registers = format!("--cfg=bpf_target_arch=\"{}\"", architecture.rust_name());
    let known = String::from("--check-cfg=cfg(bpf_target_arch,values(\"x86_64\",\"aarch64\"))");
    let mut flags = vec![registers, known, String::from("-Ctarget-cpu=v3"), String::from("-Clink-arg=--btf")];
    flags.extend(remapping::flags()?);
    Ok(flags)
}
