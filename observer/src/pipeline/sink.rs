//! The trait of receivers that get each event as it happens.

use std::io;

use observer_core::observer::{Event, Missed, Totals};
use observer_core::time::Timestamp;

/// A receiver of events. After an error it gets no more calls but [`EventSink::give_up`].
pub trait EventSink: Send {
    /// Its name in error messages, such as `--events`.
    fn name(&self) -> &'static str;

    /// Takes the next event.
    fn event(&mut self, event: &Event) -> io::Result<()>;

    /// Takes the totals so far. Called at intervals, even if nothing happened.
    fn totals(&mut self, at: Timestamp, totals: &Totals, missed: &Missed) -> io::Result<()>;

    /// Hands everything written so far to the operating system.
    fn flush(&mut self) -> io::Result<()>;

    /// Number of records, since the last call, that were taken and could not be delivered.
    fn take_undelivered(&mut self) -> u64 {
        0
    }

    /// Called when it failed, instead of all further calls. Returns the number of records that were taken, were not counted yet,
    /// and will not be delivered.
    fn give_up(&mut self) -> u64 {
        0
    }

    /// Delivers the rest in bounded time, and returns problems, one sentence each. Called once, after the last event.
    fn finish(&mut self) -> Vec<String> {
        Vec::new()
    }
}
