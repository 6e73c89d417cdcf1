//! The program under test.

use std::process::Command;

use anyhow::Result;

use super::programs;

/// `target/…/watchtap`, in the folder above that of the running test. `cargo xtask test` builds it.
pub fn watchtap() -> Result<Command> {
    Ok(Command::new(programs::built("watchtap")?))
}
