//! Passes the records of `tracing` on to standard error.

use std::io::{self, Write};

use super::held_stderr::HeldStderr;
use super::text::Printable;

/// A writer for log records. Each write must be one record, and is printed as a paragraph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        HeldStderr::print(&paragraph(record))?;
        Ok(record.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn paragraph(record: &[u8]) -> Printable {
    let text = String::from_utf8_lossy(record);
    Printable::paragraph(text.strip_suffix('\n').unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_record_is_one_paragraph_without_terminal_controls() {
        assert_eq!(paragraph(b"WARN a\x1b[31m\nWARN b\n").as_str(), "WARN a\u{FFFD}[31m\n  WARN b\n");
    }
}
