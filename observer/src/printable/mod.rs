//! Text that is safe to print on a terminal. All output to standard output, standard error and text files passes through this
//! module.
//!
//! Names, versions, errors and captures come from untrusted sources, and may contain terminal escape sequences. [`Printable`]
//! replaces every character that a terminal would interpret or not display. So code that accepts only [`Printable`] cannot print
//! such a character. The house rule `printing` (`xtask/src/tidy/printing.rs`) checks that nothing else writes to these places.

mod character;
mod held_stderr;
mod json;
mod log;
mod message;
mod printer;
mod streams;
mod subscription;
mod text;

pub(crate) use character::{REPLACEMENT, is_shown};
pub(crate) use held_stderr::HeldStderr;
pub(crate) use json::{json, json_line};
pub(crate) use log::Log;
pub(crate) use message::{print_error, print_message};
pub use printer::Printer;
pub(crate) use streams::{hand_over, handed_to, stderr, stderr_is_terminal, stdout, stdout_is_terminal};
pub(crate) use subscription::Messages;
pub use text::Printable;
pub(crate) use text::Styles;
