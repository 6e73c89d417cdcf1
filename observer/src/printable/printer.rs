//! A place that takes printable text and nothing else.

use std::io::{self, BufWriter, Write};

use super::text::Printable;

/// A stream or a file that takes only [`Printable`].
#[derive(Debug)]
pub struct Printer<W> {
    out: W,
}

impl<W: Write> Printer<W> {
    /// Prints into `out`.
    pub const fn to(out: W) -> Self {
        Self { out }
    }

    /// Hands on at [`Self::flush`] only, or when much is waiting.
    pub fn buffered(self) -> Printer<BufWriter<W>> {
        Printer { out: BufWriter::new(self.out) }
    }

    /// Prints all of `text` in one write, where its stream takes that.
    pub fn print(&mut self, text: &Printable) -> io::Result<()> {
        self.out.write_all(text.as_str().as_bytes())
    }

    /// Hands on what waits.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// What was printed into.
    pub fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write + Send + 'static> Printer<W> {
    /// One of which nobody needs to know where it leads.
    pub fn boxed(self) -> Printer<Box<dyn Write + Send>> {
        Printer { out: Box::new(self.out) }
    }
}
