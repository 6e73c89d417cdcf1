//! Compiler flags that keep the folders of this machine out of a program, so that it is the same wherever it is built.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::workspace;

/// The flags for the folders of the workspace and of unpacked packages. Run `cargo fetch` before: it unpacks the packages.
pub(crate) fn flags() -> anyhow::Result<Vec<String>> {
    let mut flags = vec![flag(&workspace::root(), "/watchtap")];
    flags.extend(registry_sources()?.iter().map(|sources| flag(sources, "/registry")));
    Ok(flags)
}

/// The compiler uses the last flag whose folder contains a file.
pub(crate) fn flag(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
}

/// The folders of unpacked packages: one per registry, named after it.
pub(crate) fn registry_sources() -> anyhow::Result<Vec<PathBuf>> {
    let folder = cargo_home()?.join("registry/src");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut folders = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    folders.sort();
    Ok(folders)
}

/// The folder in which cargo keeps packages.
pub(crate) fn cargo_home() -> anyhow::Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    home.context("cannot tell where cargo keeps packages: set CARGO_HOME")
}
