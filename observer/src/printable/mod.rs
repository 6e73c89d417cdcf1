//! Text that a terminal shows but does not obey: the only way to standard output, standard error and text files.
//!
//! Names, versions, errors and captures come from strangers. [`Printable`] replaces every character that a terminal would obey or
//! would not show, so code that accepts only [`Printable`] cannot pass one on. The house rule `printing`
//! (`xtask/src/tidy/printing.rs`) checks that nothing else writes to these places.

mod character;
mod held_stderr;
mod json;
mod log;
mod message;
mod printer;
mod streams;
mod text;

pub(crate) use character::{REPLACEMENT, is_shown};
pub(crate) use held_stderr::HeldStderr;
pub(crate) use json::{json, json_line};
pub(crate) use log::Log;
pub(crate) use message::{print_error, print_message};
pub use printer::Printer;
pub(crate) use streams::{hand_over, stderr, stderr_is_terminal, stdout, stdout_is_terminal};
pub use text::Printable;
pub(crate) use text::Styles;
