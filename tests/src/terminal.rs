//! A pseudo-terminal whose keyboard and screen belong to the test (pty(7)).

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::bounded::Lines;

/// The test's side of a terminal; dropping it hangs up.
#[derive(Debug)]
pub struct Terminal {
    keyboard: File,
    screen: Lines,
}

impl Terminal {
    /// Opens a terminal and returns the program's side, too. To make it the controlling terminal of a program, start the program
    /// with `setsid --ctty`. Each line on the screen may take up to `limit`.
    pub fn open(limit: Duration) -> Result<(Self, OwnedFd)> {
        let (keyboard, program) = pseudo_terminal()?;
        Ok((Self { screen: Lines::of(keyboard.try_clone()?, limit), keyboard }, program))
    }

    /// The next line on the screen, including echoed input.
    pub fn next_line(&self) -> Result<Option<String>> {
        self.screen.next_line()
    }

    /// Types a line and presses Enter.
    pub fn type_line(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.keyboard, "{line}")?)
    }
}

/// Opens a pseudo-terminal, and returns the test's side and the programs' side.
pub(crate) fn pseudo_terminal() -> Result<(File, OwnedFd)> {
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&keyboard)?;
    unlockpt(&keyboard)?;
    let name = ptsname(&keyboard, Vec::new())?;
    let no_control = i32::try_from(OpenptFlags::NOCTTY.bits())?;
    let path = name.to_str().context("a terminal has a plain name")?;
    let program = OpenOptions::new().read(true).write(true).custom_flags(no_control).open(path)?;
    Ok((File::from(keyboard), program.into()))
}
