//! A terminal with the test at its keyboard and its screen (pty(7)).

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::bounded::Lines;

/// What the test has of a terminal; gone, it hangs up.
#[derive(Debug)]
pub struct Terminal {
    keyboard: File,
    screen: Lines,
}

impl Terminal {
    /// A new one, and the side of it that a program is given. A program that is to have it as the terminal of its session is started by
    /// `setsid --ctty`. Each line on the screen may take as long as `limit`.
    pub fn open(limit: Duration) -> Result<(Self, OwnedFd)> {
        let (keyboard, program) = pseudo_terminal()?;
        Ok((Self { screen: Lines::of(keyboard.try_clone()?, limit), keyboard }, program))
    }

    /// The next line on the screen; what is typed is among them.
    pub fn next_line(&self) -> Result<Option<String>> {
        self.screen.next_line()
    }

    /// Types a line.
    pub fn type_line(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.keyboard, "{line}")?)
    }
}

/// The side of keyboard and screen, and that of programs.
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
