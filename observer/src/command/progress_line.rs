//! One line on stderr that changes, where somebody looks: what is being done.

use std::fmt::Display;

use crate::printable::{Printable, stderr, stderr_is_terminal};

/// The line. Without a terminal there is none.
#[derive(Debug, Default)]
pub(super) struct ProgressLine {
    is_open: bool,
}

impl ProgressLine {
    /// Shows this in place of what was shown before.
    pub(super) fn show(&mut self, text: impl Display) {
        if stderr_is_terminal() {
            self.is_open = true;
            let mut line = Printable::words("\r");
            line.push(text);
            // The end of the line is cleared, as the text before may have been longer.
            line.append(&Printable::words("\x1b[K"));
            let _written = stderr().print(&line);
        }
    }

    /// Leaves nothing of it.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _written = stderr().print(&Printable::words("\r\x1b[K"));
        }
    }
}
