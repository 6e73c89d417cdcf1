//! Clients, events and first screens of several stories.

use std::io::Write as _;
use std::process::Child;

use anyhow::{Context, Result, ensure};

use crate::events::Events;
use crate::stage::Reading;

/// How many events of this kind are about the trouble.
pub(super) fn troubles(events: &Events, event: &str, trouble: &str) -> usize {
    events.all(event).filter(|one| one["trouble"] == trouble).count()
}

/// Fails unless the first screen of the report has these words.
pub(super) fn first_lines_have(reading: &Reading, words: &str) -> Result<()> {
    let first: Vec<&str> = reading.text.lines().take(24).collect();
    ensure!(first.iter().any(|line| line.contains(words)), "{words:?} is not among the first lines:\n{}", reading.text);
    Ok(())
}

/// A client that is killed when it is dropped.
pub(super) struct Started(pub(super) Child);

impl Started {
    /// Writes a line to its standard input.
    pub(super) fn line(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.0.stdin.as_mut().context("its standard input is a pipe")?, "{line}")?)
    }
}

impl Started {
    /// Waits for its end, which must be a success.
    pub(super) fn succeeds(mut self) -> Result<()> {
        let status = self.0.wait()?;
        ensure!(status.success(), "a client ended with {status}");
        Ok(())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.0.kill().and_then(|()| self.0.wait());
    }
}
