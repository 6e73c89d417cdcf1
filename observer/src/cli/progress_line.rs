//! A line on stderr that shows the current step, if stderr is a terminal.

use std::fmt::Display;

use crate::printable::{Printable, stderr, stderr_is_terminal};

/// Prints nothing without a terminal.
#[derive(Debug, Default)]
pub(super) struct ProgressLine {
    is_open: bool,
}

impl ProgressLine {
    /// Replaces the text of the line.
    pub(super) fn show(&mut self, text: impl Display) {
        if stderr_is_terminal() {
            self.is_open = true;
            let mut line = Printable::words("\r");
            line.push(text);
            // Clears the rest of the line, since the previous text may have been longer.
            line.append(&Printable::words("\x1b[K"));
            let _written = stderr().print(&line);
        }
    }

    /// Clears the line.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _written = stderr().print(&Printable::words("\r\x1b[K"));
        }
    }
}
