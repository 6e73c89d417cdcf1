//! Finds programs on the PATH and in this workspace, and writes new ones.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The first executable with this name on the PATH.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
}

/// Like [`find`], but an error if the program is missing; `purpose` is part of the message.
pub(crate) fn require(name: &str, purpose: &str) -> Result<PathBuf> {
    find(name).with_context(|| format!("`{name}` is not on the PATH; the cluster tests need it {purpose}"))
}

pub(crate) fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// A program of this workspace, in the folder above that of the running test. `cargo xtask test` builds all of them.
pub fn built(name: &str) -> Result<PathBuf> {
    let test = std::env::current_exe().context("the running test has no path")?;
    let candidates = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    candidates.into_iter().find(|program| is_executable(program)).with_context(|| {
        format!("no {name} beside {}; build it with `cargo build --workspace --bins` (cargo xtask test does)", test.display())
    })
}

/// Writes a program that can be executed at once.
///
/// Another process writes it. If this one did, a child of another thread could hold the file open for writing until the child's own
/// execution begins. Linux executes no such file (`ETXTBSY`).
pub fn write(program: &Path, content: &[u8]) -> Result<()> {
    let mut install = Command::new("install");
    install.args(["--mode", "755", "/dev/stdin"]).arg(program).stdin(Stdio::piped());
    let mut install = install.spawn().context("cannot start install")?;
    install.stdin.take().context("no pipe")?.write_all(content)?;
    ensure!(install.wait()?.success(), "install cannot write {}", program.display());
    Ok(())
}
