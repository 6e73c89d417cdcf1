//! The message of a panic: its place, but not its text.
//!
//! The text of a panic may contain the data being processed: a slice that is cut within a character shows its text. That is other
//! people's traffic.

use crate::printable::print_message;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;
use std::thread;

/// From now on, a panic of any thread is reported without its text.
pub(super) fn keep_to_the_place() {
    std::panic::set_hook(Box::new(|panic| print_message(words(panic))));
}

fn words(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let thread = thread::current();
    let thread = thread.name().unwrap_or("nameless");
    let words = format!("internal error at {place}, thread {thread}; please report it");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured { format!("{words}\n{backtrace}") } else { words }
}
