//! The program under test.

use std::process::Command;

use anyhow::Result;

use super::programs;

/// `target/…/watchtap`, beside the folder that the running test lies in. `cargo xtask test` builds it.
pub fn watchtap() -> Result<Command> {
    Ok(Command::new(programs::built("watchtap")?))
}
