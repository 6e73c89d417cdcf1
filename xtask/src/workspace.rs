//! Where the workspace is, and how its tasks start programs there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use xshell::Shell;

/// The folder of the workspace's `Cargo.toml`.
///
/// Cargo says at run time where this package lies; what it said at build time may be another checkout with the same target folder.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
    let package = PathBuf::from(package);
    package.parent().map_or_else(|| package.clone(), Path::to_path_buf)
}

/// A shell that stands at the [`root`].
pub(crate) fn shell() -> anyhow::Result<Shell> {
    let shell = Shell::new().context("cannot tell the current folder")?;
    shell.change_dir(root());
    Ok(shell)
}

/// The cargo that runs this task, started at the [`root`].
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root());
    command
}

/// Builds all that tests need, the `watchtap` binary included; false when it does not build.
///
/// Here and wherever tests are run the whole workspace is selected: another selection would enable other features of shared dependencies, and
/// they would be built twice.
pub(crate) fn build_for_tests() -> anyhow::Result<bool> {
    let arguments = ["build", "--workspace", "--lib", "--bins", "--tests"];
    let status = cargo().args(arguments).status().context("cannot start cargo")?;
    Ok(status.success())
}

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(target)
}

/// Where the harness of the tests leaves what tasks read: the folder of this name in the target directory.
pub(crate) fn tests_left(name: &str) -> PathBuf {
    target().join("cluster").join(name)
}
