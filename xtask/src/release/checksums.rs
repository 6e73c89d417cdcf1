//! `SHA256SUMS`, in the form that `sha256sum --check` reads.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::image::digest;

pub(super) const SUMS: &str = "SHA256SUMS";

/// A line for each file of a folder, by name.
pub(super) fn of_folder(folder: &Path) -> anyhow::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().into_string().ok().context("a name is not UTF-8")?);
    }
    names.sort();
    let mut lines = String::new();
    for name in names.iter().filter(|name| *name != SUMS) {
        writeln!(lines, "{}  {name}", sum(&fs::read(folder.join(name))?))?;
    }
    Ok(lines)
}

/// The names in a list of checksums, without those that would be in another folder.
pub(super) fn names(list: &str) -> BTreeSet<String> {
    let names = list.lines().filter_map(|line| line.split_once("  ")).map(|(_, name)| name);
    names.filter(|name| !name.contains('/')).map(str::to_owned).collect()
}

/// The SHA-256 in hexadecimal digits.
pub(super) fn sum(content: &[u8]) -> String {
    digest(content).trim_start_matches("sha256:").to_owned()
}
