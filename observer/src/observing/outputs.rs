//! What is written while observing goes on.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use observer_core::observation::Observation;
use observer_core::observer::{Event, Observer};

use crate::capture::CaptureFile;
use crate::injected_fault::{self, Place};
use crate::view::EventSink;

/// Views and files that follow a run. One that cannot be written any more is given up, and the run goes on.
#[derive(Default)]
pub struct Outputs {
    sinks: Vec<Box<dyn EventSink>>,
    capture: Option<CaptureFile>,
    troubles: Vec<String>,
}

impl Outputs {
    /// Who is told of each event, and the file that records, if any.
    pub fn new(sinks: Vec<Box<dyn EventSink>>, capture: Option<CaptureFile>) -> Self {
        Self { sinks, capture, troubles: Vec::new() }
    }

    /// One more who is told.
    pub fn add(&mut self, sink: Box<dyn EventSink>) {
        self.sinks.push(sink);
    }

    /// Tells an event.
    pub(super) fn event(&mut self, event: &Event) {
        self.each(|sink| {
            injected_fault::strike(Place::View, event);
            sink.event(event)
        });
    }

    /// Tells how much there was until now.
    pub(super) fn totals(&mut self, observer: &Observer) {
        let (at, totals, missed) = (observer.now(), observer.totals(), observer.missed());
        self.each(|sink| sink.totals(at, &totals, missed));
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
        self.each(|sink| sink.flush());
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
        self.each(|sink| sink.flush());
        self.troubles
    }

    fn unless_over(&mut self, written: io::Result<()>) -> io::Result<()> {
        if written.is_err() {
            self.capture = None;
        }
        written
    }

    /// A full disk ends the file, and a fault of ours the view, not the run.
    fn each(&mut self, mut tell: impl FnMut(&mut dyn EventSink) -> io::Result<()>) {
        let Self { sinks, troubles, .. } = self;
        sinks.retain_mut(|sink| {
            let told = catch_unwind(AssertUnwindSafe(|| tell(sink.as_mut())));
            let trouble = match told {
                Ok(Ok(())) => return true,
                Ok(Err(error)) => format!("{} ended early: {error}", sink.name()),
                Err(_panic) => format!("{} ended early: an internal error; please report it", sink.name()),
            };
            tracing::warn!("{trouble}; observing goes on");
            troubles.push(trouble);
            false
        });
    }
}
