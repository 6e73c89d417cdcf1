//! Whoever is told what happens, as it happens.

use std::io;

use observer_core::observer::{Event, Missed, Totals};
use observer_core::time::Timestamp;

/// A view of single events. One that fails is not asked again.
pub trait EventSink: Send {
    /// What to call it when it fails, such as `--events`.
    fn name(&self) -> &'static str;

    /// Takes the next event.
    fn event(&mut self, event: &Event) -> io::Result<()>;

    /// Told from time to time, whether anything happened or not.
    fn totals(&mut self, at: Timestamp, totals: &Totals, missed: &Missed) -> io::Result<()>;

    /// Hands everything written so far to the operating system.
    fn flush(&mut self) -> io::Result<()>;
}
