//! Text that a terminal shows and does not obey: the one way to standard output, to standard error and into files of text.
//!
//! Names, versions, errors and captures come from strangers. [`Printable`] replaces what a terminal would obey or would not show, so whatever
//! takes only a [`Printable`] cannot pass it on. The house rule `printing` (`xtask/src/tidy/printing.rs`) holds that nothing else writes there.

mod character;
mod json;
mod log;
mod printer;
mod streams;
mod text;

pub(crate) use character::{REPLACEMENT, is_shown};
pub(crate) use json::{json, json_line};
pub(crate) use log::Log;
pub use printer::Printer;
pub(crate) use streams::{hand_over, stderr, stderr_is_terminal, stdout, stdout_is_terminal};
pub use text::Printable;
pub(crate) use text::Styles;
