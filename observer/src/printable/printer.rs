//! A writer that accepts only [`Printable`] text.

use std::io::{self, BufWriter, Write};

use super::text::Printable;

/// A stream or a file that accepts only [`Printable`].
#[derive(Debug)]
pub struct Printer<W> {
    out: W,
}

impl<W: Write> Printer<W> {
    /// Prints to `out`, without a buffer.
    pub const fn to(out: W) -> Self {
        Self { out }
    }

    /// Writes only at [`Self::flush`], or when the buffer is full.
    pub fn buffered(self) -> Printer<BufWriter<W>> {
        Printer { out: BufWriter::new(self.out) }
    }

    /// Prints all of `text` in one write, if the stream accepts that.
    pub fn print(&mut self, text: &Printable) -> io::Result<()> {
        self.out.write_all(text.as_str().as_bytes())
    }

    /// Writes the buffered text.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// The stream or file that this printed to.
    pub fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write + Send + 'static> Printer<W> {
    /// Hides the type of the stream.
    pub fn boxed(self) -> Printer<Box<dyn Write + Send>> {
        Printer { out: Box::new(self.out) }
    }
}
