//! Prints watchtap's own messages to standard error.

use std::fmt::Display;

use super::held_stderr::HeldStderr;
use super::text::Printable;
use crate::error_chain;
use crate::invocation::Invocation;

/// Prints a paragraph that begins with `watchtap: `. Commands in it are as the user types them. If stderr is closed, there is nowhere
/// to report that.
pub(crate) fn print_message(line: impl Display) {
    let line = line.to_string();
    let line = Invocation::current().in_words(&line);
    let _written = HeldStderr::print(&Printable::paragraph(format_args!("watchtap: {line}")));
}

/// Prints an error and its causes, on one line.
pub(crate) fn print_error(error: &anyhow::Error) {
    print_message(error_chain::in_words(error.as_ref()));
}
