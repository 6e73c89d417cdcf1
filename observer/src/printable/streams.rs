//! Our standard streams. Nothing else opens them, except the page (`terminal/screen.rs`).

use std::io::{self, IsTerminal, Stderr, Stdout, Write};

use super::printer::Printer;

pub(crate) fn stdout() -> Printer<Stdout> {
    Printer::to(io::stdout())
}

/// While a page is on the terminal, print to `HeldStderr` instead.
pub(crate) fn stderr() -> Printer<Stderr> {
    Printer::to(io::stderr())
}

pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Writes bytes unchanged to the program that reads standard output: a credential to its client, a script to its shell.
pub(crate) fn hand_over(data: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(data)?;
    out.flush()
}
