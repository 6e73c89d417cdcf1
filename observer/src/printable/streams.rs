//! Standard output and standard error of this process. Only this module and the page (`terminal/screen.rs`) open them.

use std::io::{self, IsTerminal, Stderr, Stdout, Write};
use std::os::fd::AsFd;

use super::printer::Printer;

pub(crate) fn stdout() -> Printer<Stdout> {
    Printer::to(io::stdout())
}

/// Prints directly to standard error. While a page may be on the terminal, use `HeldStderr` instead.
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

/// Where [`hand_over`] writes, to wait until it takes bytes.
pub(crate) fn handed_to() -> impl AsFd {
    io::stdout()
}
