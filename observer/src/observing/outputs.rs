//! What is written while observing goes on.

use std::io::{self, Write};
use std::time::Duration;

use observer_core::observation::Observation;
use observer_core::observer::Event;

use crate::capture::CaptureFile;
use crate::view::EventLines;

/// Files that follow a run. One that cannot be written any more is given up, and the run goes on.
#[derive(Default)]
pub struct Outputs {
    events: Option<EventLines<Box<dyn Write + Send>>>,
    capture: Option<CaptureFile>,
    troubles: Vec<String>,
}

impl Outputs {
    /// Both are optional.
    pub fn new(events: Option<EventLines<Box<dyn Write + Send>>>, capture: Option<CaptureFile>) -> Self {
        Self { events, capture, troubles: Vec::new() }
    }

    /// Writes an event.
    pub(super) fn event(&mut self, event: &Event) {
        if let Some(lines) = &mut self.events
            && let Err(error) = lines.event(event)
        {
            self.give_up_events(&error);
        }
    }

    /// Records an observation; with the error the capture is over.
    pub(super) fn record(&mut self, observation: &Observation) -> io::Result<()> {
        let recorded = self.capture.as_mut().map_or(Ok(()), |capture| capture.record(observation));
        self.unless_over(recorded)
    }

    /// How long until [`Self::flush`] is due; `None` when there is no need.
    pub(super) fn due_in(&self) -> Option<Duration> {
        self.capture.as_ref().and_then(CaptureFile::due_in)
    }

    /// Hands on what waits; with the error the capture is over.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if let Some(lines) = &mut self.events
            && let Err(error) = lines.flush()
        {
            self.give_up_events(&error);
        }
        let flushed = self.capture.as_mut().map_or(Ok(()), CaptureFile::flush_if_due);
        self.unless_over(flushed)
    }

    /// Observing failed: the capture stays without its end mark, because it is not whole.
    pub(super) fn abandon(&mut self, why: &str) {
        self.capture = None;
        self.troubles.push(why.to_owned());
    }

    /// Writes what waits and the end mark of the capture.
    pub(super) fn end_capture(&mut self) -> io::Result<()> {
        self.capture.take().map_or(Ok(()), CaptureFile::finish)
    }

    /// Writes what waits, and returns what went wrong, each a sentence.
    pub(super) fn finish(mut self) -> Vec<String> {
        if let Some(lines) = &mut self.events
            && let Err(error) = lines.flush()
        {
            self.give_up_events(&error);
        }
        self.troubles
    }

    fn unless_over(&mut self, written: io::Result<()>) -> io::Result<()> {
        if written.is_err() {
            self.capture = None;
        }
        written
    }

    /// A full disk ends the event file, not the run.
    fn give_up_events(&mut self, error: &io::Error) {
        self.events = None;
        self.troubles.push(format!("--events ended early: {error}"));
    }
}
