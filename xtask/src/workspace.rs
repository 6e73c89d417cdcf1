//! Finds the workspace's folders, and makes commands that run in them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use xshell::Shell;

/// The folder of the workspace's `Cargo.toml`.
///
/// The location is read at run time, from a variable that cargo sets. The location at build time may be that of another checkout
/// with the same target folder.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
    let package = PathBuf::from(package);
    package.parent().map_or_else(|| package.clone(), Path::to_path_buf)
}

/// A shell with the [`root`] as working directory.
pub(crate) fn shell() -> anyhow::Result<Shell> {
    let shell = Shell::new().context("cannot tell the current folder")?;
    shell.change_dir(root());
    Ok(shell)
}

/// The cargo that runs this task, with the [`root`] as working directory.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root());
    command
}

/// Builds everything that tests need, including the `watchtap` binary; false if the build fails.
///
/// Every test command selects the entire workspace, as this one does. Another selection would enable other features of shared
/// dependencies, which would then be built twice.
pub(crate) fn build_for_tests() -> anyhow::Result<bool> {
    let arguments = ["build", "--workspace", "--lib", "--bins", "--tests"];
    let status = cargo().args(arguments).status().context("cannot start cargo")?;
    Ok(status.success())
}

/// Cargo's target directory.
pub(crate) fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(target)
}

/// The folder in the target directory where tests write files for the task `name`.
pub(crate) fn tests_left(name: &str) -> PathBuf {
    target().join("cluster").join(name)
}
