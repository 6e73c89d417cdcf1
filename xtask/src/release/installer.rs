//! `install.sh` of a release: the script of this repository, with the address and the version of the release.

use std::fs;

use anyhow::{Context, ensure};

use crate::image::Source;
use crate::workspace;

pub(super) const FILE_NAME: &str = "install.sh";

pub(super) fn script(base_url: &str, source: &Source) -> anyhow::Result<String> {
    let script = fs::read_to_string(workspace::root().join(FILE_NAME)).context("cannot read install.sh")?;
    let script = filled_in(&script, "default_from", base_url)?;
    filled_in(&script, "default_version", &source.version)
}

/// The script with the value of a variable that is empty in the repository. The value has no quotes.
fn filled_in(script: &str, variable: &str, value: &str) -> anyhow::Result<String> {
    let (empty, full) = (format!("\n{variable}=''\n"), format!("\n{variable}='{value}'\n"));
    ensure!(script.matches(&empty).count() == 1 && !value.contains('\''), "install.sh has no line {variable}=''");
    Ok(script.replace(&empty, &full))
}
