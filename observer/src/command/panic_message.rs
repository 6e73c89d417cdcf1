//! What is said when we panic: where, and not why.
//!
//! The words of a panic may hold what was being worked on (a slice that is cut within a character shows its text), and that is other people's
//! traffic.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;
use std::thread;

use super::output::say;

/// From now on a panic of any thread is said without its own words.
pub(super) fn keep_to_the_place() {
    std::panic::set_hook(Box::new(|panic| say(words(panic))));
}

fn words(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let thread = thread::current();
    let thread = thread.name().unwrap_or("nameless");
    let words = format!("internal error at {place}, thread {thread}; please report it");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured { format!("{words}\n{backtrace}") } else { words }
}
