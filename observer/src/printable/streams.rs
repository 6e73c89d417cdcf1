//! Our standard streams. Nothing else opens them, but for the page's (`terminal/screen.rs`).

use std::io::{self, IsTerminal, Stderr, Stdout, Write};

use super::printer::Printer;

/// Standard output.
pub(crate) fn stdout() -> Printer<Stdout> {
    Printer::to(io::stdout())
}

/// Standard error. While a page is on the terminal, `terminal::Stderr` is the one to print to.
pub(crate) fn stderr() -> Printer<Stderr> {
    Printer::to(io::stderr())
}

/// Whether somebody may be looking at standard output.
pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether somebody may be looking at standard error.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Hands bytes to the program that reads standard output, as they are: a credential to its client, a script to its shell.
pub(crate) fn hand_over(data: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(data)?;
    out.flush()
}
