//! The program under test.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::programs::is_executable;

/// `target/…/watchtap`, beside the folder that the running test lies in. `cargo xtask test` builds it.
pub fn watchtap() -> Result<Command> {
    Ok(Command::new(path()?))
}

fn path() -> Result<PathBuf> {
    let test = std::env::current_exe().context("the running test has no path")?;
    let candidates = test.ancestors().skip(1).take(2).map(|folder| folder.join("watchtap"));
    candidates.into_iter().find(|program| is_executable(program)).with_context(|| {
        format!("no watchtap beside {}; build it with `cargo build -p observer` (cargo xtask test does)", test.display())
    })
}
