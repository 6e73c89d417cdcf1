//! The C compiler for the TLS library: zig, which can compile for every target with musl, and whose version is fixed here.
//!
//! With the compiler of the system, the bytes of an image would depend on the distribution. zig is one package on `PyPI` that needs neither
//! root nor a system. It only compiles: rustc links, with its own linker and its own musl.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::architecture::Architecture;

/// The package and its hashes, in the form of pip's requirements: Linux on x86-64 and arm64, macOS on arm64 and x86-64.
const REQUIREMENT: &str = "\
ziglang==0.17.1 \
--hash=sha256:ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54 \
--hash=sha256:b7c5f02fccd40f89b999ee16a1f5ddced56e6182370f8affe494bcf8a28cf07e \
--hash=sha256:09953b6af7f64168b915180a42774f520f92d86ef6331b28e33915c7e1f0bb23 \
--hash=sha256:4e0b4b9c02b8d0d220e9948010f860b62ff11d96abb39762eca5fa2ef3f7bc97
";

/// Calls zig. Build scripts name the target in words that zig does not know, so their flag is replaced.
const COMPILER: &str = r#"#!/bin/sh
for word in "$@"; do
  shift
  case "$word" in
  --target=*) ;;
  *) set -- "$@" "$word" ;;
  esac
done
folder=$(dirname "$0")
export ZIG_GLOBAL_CACHE_DIR="$folder/cache" ZIG_LOCAL_CACHE_DIR="$folder/cache"
exec "$folder/ziglang/zig" cc -target ZIG_TARGET "$@"
"#;

const ARCHIVER: &str = r#"#!/bin/sh
exec "$(dirname "$0")/ziglang/zig" ar "$@"
"#;

/// The folder that contains the compiler.
pub(super) struct CCompiler {
    folder: PathBuf,
}

impl CCompiler {
    pub(super) fn found_or_installed(folder: &Path) -> anyhow::Result<Self> {
        let compiler = Self { folder: folder.to_path_buf() };
        // Tests may build the images of two architectures at the same time.
        fs::create_dir_all(folder.parent().context("the folder of the C compiler has no parent")?)?;
        let lock = File::create(folder.with_extension("lock"))?;
        lock.lock().context("cannot lock the installation of the C compiler")?;
        let complete = folder.join("requirement.txt");
        if fs::read_to_string(&complete).is_ok_and(|installed| installed == REQUIREMENT) {
            return Ok(compiler);
        }
        compiler.install().with_context(|| format!("no C compiler could be put into {}", folder.display()))?;
        // This file is last, because it marks the installation as complete.
        fs::write(&complete, REQUIREMENT)?;
        Ok(compiler)
    }

    /// A program that takes the arguments of a C compiler.
    pub(super) fn path(&self, architecture: Architecture) -> PathBuf {
        self.folder.join(format!("cc-{}", architecture.name()))
    }

    pub(super) fn archiver(&self) -> PathBuf {
        self.folder.join("ar")
    }

    /// A C compiler for programs of this machine, which runs Linux with glibc.
    pub(super) fn for_this_machine(&self) -> Command {
        let mut compiler = Command::new(self.folder.join("ziglang/zig"));
        let cache = self.folder.join("cache");
        compiler.env("ZIG_GLOBAL_CACHE_DIR", &cache).env("ZIG_LOCAL_CACHE_DIR", &cache);
        compiler.args(["cc", "-target"]).arg(format!("{}-linux-gnu", std::env::consts::ARCH));
        compiler
    }

    /// A text that zig comes with.
    pub(super) fn text(&self, path: &str) -> anyhow::Result<String> {
        let path = self.folder.join("ziglang").join(path);
        Ok(fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?.trim().to_owned())
    }

    fn install(&self) -> anyhow::Result<()> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        fs::create_dir_all(&self.folder)?;
        let requirement = self.folder.join("requirement.part");
        fs::write(&requirement, REQUIREMENT)?;
        println!("== C compiler: downloading zig with pip (100 MB; 410 MB in {})", self.folder.display());
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps"]);
        pip.args(["--only-binary", ":all:", "--require-hashes", "--root-user-action", "ignore", "--target"]).arg(&self.folder);
        let installed = pip.arg("--requirement").arg(&requirement).status();
        let installed = installed.context("cannot start python3: install Python 3 with pip (Debian: python3-pip)")?;
        ensure!(installed.success(), "pip cannot install ziglang from PyPI: see its messages above (Debian: python3-pip)");
        for architecture in Architecture::ALL {
            write_program(&self.path(architecture), &COMPILER.replace("ZIG_TARGET", architecture.zig_target()))?;
        }
        write_program(&self.archiver(), ARCHIVER)
    }
}

fn write_program(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text)?;
    Ok(fs::set_permissions(path, Permissions::from_mode(0o755))?)
}
