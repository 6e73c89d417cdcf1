//! One line on stderr that changes, where somebody looks: what is being done.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

/// The line. Without a terminal there is none.
#[derive(Debug, Default)]
pub(super) struct ProgressLine {
    is_open: bool,
}

impl ProgressLine {
    /// Shows this in place of what was shown before.
    pub(super) fn show(&mut self, text: impl Display) {
        if io::stderr().is_terminal() {
            self.is_open = true;
            // The end of the line is cleared, as the text before may have been longer.
            let _written = write!(io::stderr().lock(), "\r{text}\x1b[K");
        }
    }

    /// Leaves nothing of it.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _written = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}
