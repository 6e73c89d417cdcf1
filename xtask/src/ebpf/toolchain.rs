//! Unpacks a toolchain for eBPF into a folder: a Rust compiler, its `core` library for BPF, and bpf-linker.
//!
//! rustup has no `core` for BPF, and building it needs a nightly compiler. Debian's security archive has a compiler and a `core`
//! that use the same LLVM, and bpf-linker is built with that LLVM. Nothing is installed on the system, and root is not needed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

/// Packages of Debian 12 (bookworm-security). For a new compiler, change these names, and [`LLVM`] if its LLVM is new too.
const PACKAGES: &[&str] =
    &["rustc-web", "libstd-rust-web-1.96", "libstd-rust-web-dev", "libstd-rust-web-dev-bpf", "libllvm22", "llvm-22"];

/// The LLVM version that these packages share.
const LLVM: &str = "22";

const BPF_LINKER: &str = "0.13.0";

/// The packages' library folder.
const LIBRARIES: &str = "root/usr/lib/x86_64-linux-gnu";

/// The folder that contains the toolchain.
pub(super) struct Toolchain {
    folder: PathBuf,
}

impl Toolchain {
    pub(super) fn found_or_installed(folder: &Path) -> anyhow::Result<Self> {
        let toolchain = Self { folder: folder.to_path_buf() };
        if !toolchain.is_complete() {
            toolchain.install().with_context(|| format!("no toolchain for BPF could be put into {}", folder.display()))?;
        }
        Ok(toolchain)
    }

    pub(super) fn rustc(&self) -> PathBuf {
        self.folder.join("root/usr/bin/rustc")
    }

    pub(super) fn linker(&self) -> PathBuf {
        self.folder.join("bin/bpf-linker")
    }

    /// The folder of the shared libraries that these programs load.
    pub(super) fn libraries(&self) -> PathBuf {
        self.folder.join(LIBRARIES)
    }

    /// A command with the library path of the toolchain.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", self.libraries());
        command
    }

    pub(super) fn strip(&self) -> Command {
        self.command(&self.folder.join(format!("root/usr/lib/llvm-{LLVM}/bin/llvm-strip")))
    }

    /// The versions of the tools that determine the bytes of the object, by name.
    pub(super) fn versions(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let output = stdout(self.command(&self.rustc()).arg("-vV"))?;
        let of = |key: &str| {
            let line = output.lines().find_map(|line| line.strip_prefix(key));
            line.map(str::to_owned).with_context(|| format!("`rustc -vV` does not print {key:?}: {output}"))
        };
        let linker = stdout(self.command(&self.linker()).arg("--version"))?;
        let linker = linker.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        let versions = [
            ("rustc", format!("{} ({})", of("release: ")?, of("commit-hash: ")?)),
            ("llvm", of("LLVM version: ")?),
            ("bpf-linker", linker),
        ];
        Ok(versions.into_iter().map(|(name, version)| (name.to_owned(), version)).collect())
    }

    /// Whether the installation is complete: the linker is built last.
    fn is_complete(&self) -> bool {
        self.linker().is_file() && self.rustc().is_file()
    }

    fn install(&self) -> anyhow::Result<()> {
        let packages = self.folder.join("packages");
        fs::create_dir_all(&packages)?;
        println!("downloading {} packages (about 140 MB)", PACKAGES.len());
        let mut download = Command::new("apt-get");
        // As root, apt would switch to a user who may not write here, and warn; for other users the option changes nothing.
        download.args(["download", "-qq", "--option", "APT::Sandbox::User=root"]).args(PACKAGES);
        let downloaded = download.current_dir(&packages).status();
        anyhow::ensure!(
            downloaded.context("cannot start apt-get: the packages are Debian's")?.success(),
            "apt-get cannot download {}: they are in Debian 12's security archive (`deb … bookworm-security main`), and `apt-get update` \
             reads what it has now",
            PACKAGES.join(" ")
        );
        println!("unpacking them");
        for entry in fs::read_dir(&packages)? {
            let package = entry?.path();
            run(Command::new("dpkg").arg("-x").arg(&package).arg(self.folder.join("root")))?;
        }
        fs::remove_dir_all(&packages)?;
        println!("building bpf-linker {BPF_LINKER} (about a minute)");
        self.build_linker()
    }

    /// Builds bpf-linker with the default compiler. It may differ from the compiler of the packages; only the LLVM must be the
    /// same.
    fn build_linker(&self) -> anyhow::Result<()> {
        let prefix = self.folder.join("llvm");
        let link = prefix.join("lib/libLLVM.so");
        fs::create_dir_all(prefix.join("lib"))?;
        if !link.exists() {
            std::os::unix::fs::symlink(self.libraries().join(format!("libLLVM-{LLVM}.so")), &link)?;
        }
        let built = self.folder.join("build");
        let mut cargo = Command::new("cargo");
        cargo.args(["install", "--quiet", "--locked", "bpf-linker", "--version", BPF_LINKER, "--no-default-features"]);
        cargo.arg(format!("--features=llvm-{LLVM}")).arg("--root").arg(&self.folder).arg("--target-dir").arg(&built);
        // The folder is outside the workspace, so that the workspace's settings do not apply.
        run(cargo.current_dir(&self.folder).env("LLVM_PREFIX", &prefix).env_remove("CARGO_TARGET_DIR"))?;
        fs::remove_dir_all(built)?;
        Ok(())
    }
}

/// Runs a program that prints its own errors.
pub(super) fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    anyhow::ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

/// The standard output of a program.
pub(super) fn stdout(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start {command:?}"))?;
    anyhow::ensure!(output.status.success(), "{command:?} failed: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}
