//! The outputs of a run while it lasts: events, the capture, snapshots and series.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use observer_core::observation::Observation;
use observer_core::observer::{Event, Observer, Snapshot};

use super::EventSink;
use super::series::{SeriesReader, SeriesSource};
use super::snapshots::{Publisher, SnapshotSource};
use crate::capture::CaptureFile;
use crate::injected_fault::{self, Component};
use crate::intake::Waker;

/// Receivers of events, the capture, the publisher of snapshots, and the source of series. An output that fails is closed, and the
/// run continues.
#[derive(Default)]
pub struct Outputs {
    sinks: Vec<Box<dyn EventSink>>,
    capture: Option<CaptureFile>,
    publisher: Option<Publisher>,
    series: Option<(SeriesReader, SeriesSource)>,
    troubles: Vec<String>,
    /// Records of receivers that failed.
    undelivered: u64,
    observing_is_over: bool,
    is_abandoned: bool,
}

impl Outputs {
    /// Outputs to `sinks`, and to `capture` if there is one.
    pub fn new(sinks: Vec<Box<dyn EventSink>>, capture: Option<CaptureFile>) -> Self {
        Self { sinks, capture, ..Self::default() }
    }

    /// Adds a receiver of events.
    pub fn add(&mut self, sink: Box<dyn EventSink>) {
        self.sinks.push(sink);
    }

    /// Where pages subscribe to snapshots of this run, without the findings in `mute` of the first call.
    pub fn snapshots(&mut self, mute: &[String]) -> SnapshotSource {
        self.publisher.get_or_insert_with(|| Publisher::new(mute.to_vec())).source()
    }

    /// A reader of the series of this run, without the findings in `mute` of the first call.
    pub fn series(&mut self, mute: &[String]) -> SeriesReader {
        self.series.get_or_insert_with(|| SeriesReader::begin(mute)).0.clone()
    }

    /// Readers of series and new readers of snapshots wake the observing thread with `waker`.
    pub(super) fn wake_by(&self, waker: &Waker) {
        if let Some((_, source)) = &self.series {
            source.wake_by(waker.clone());
        }
        if let Some(publisher) = &self.publisher {
            publisher.wake_by(waker.clone());
        }
    }

    /// Whether a page reads snapshots, or a reader waits for series. Both contain durations, so they need the time even without
    /// traffic.
    pub(super) fn is_viewed(&mut self) -> bool {
        let is_asked = self.series.as_mut().is_some_and(|(_, source)| source.is_asked());
        is_asked || self.publisher.as_ref().is_some_and(Publisher::is_wanted)
    }

    /// Notes that the last snapshot is out of date.
    pub(super) fn note_change(&mut self) {
        if let Some(publisher) = &mut self.publisher {
            publisher.note_change();
        }
    }

    /// Publishes a snapshot if one is due. An internal error ends the page, not the run.
    pub(super) fn publish(&mut self, observer: &Observer) {
        let Some(publisher) = &mut self.publisher else { return };
        if catch_unwind(AssertUnwindSafe(|| publisher.publish_if_due(observer))).is_err() {
            self.publisher = None;
            let trouble = "the terminal page stopped updating because of an internal error; please report it";
            self.warn(trouble);
            self.troubles.push(trouble.to_owned());
        }
    }

    /// Answers the readers of series. An internal error ends this output, not the run.
    pub(super) fn answer(&mut self, observer: &Observer) {
        self.with_series(|source| source.answer(observer));
    }

    /// Keeps the last numbers, if a reader of series wants them.
    pub(super) fn end_series(&mut self, observer: &Observer) {
        self.with_series(|source| source.end(observer));
    }

    /// Publishes the snapshot of the report, for a page that stays after the run.
    pub(super) fn publish_last(&self, snapshot: &Snapshot) {
        if let Some(publisher) = &self.publisher {
            publisher.publish_last(snapshot);
        }
    }

    /// Emits an event.
    pub(super) fn event(&mut self, event: &Event) {
        self.each(|sink| {
            injected_fault::inject(Component::View, event);
            sink.event(event)
        });
    }

    /// Passes the totals so far to each receiver.
    pub(super) fn totals(&mut self, observer: &Observer) {
        let (at, totals, missed) = (observer.now(), observer.totals(), observer.missed());
        self.each(|sink| sink.totals(at, &totals, missed));
    }

    /// Number of records, since the last call, that a receiver took and could not deliver.
    pub(super) fn take_undelivered(&mut self) -> u64 {
        let mut undelivered = 0_u64;
        self.each(|sink| {
            undelivered = undelivered.saturating_add(sink.take_undelivered());
            Ok(())
        });
        undelivered.saturating_add(std::mem::take(&mut self.undelivered))
    }

    /// Lets each receiver deliver the rest.
    pub(super) fn finish_sinks(&mut self) {
        let mut troubles = Vec::new();
        self.each(|sink| {
            troubles.extend(sink.finish());
            Ok(())
        });
        self.troubles.append(&mut troubles);
    }

    /// Records an observation; an error ends the capture.
    pub(super) fn record(&mut self, observation: &Observation) -> io::Result<()> {
        let recorded = self.capture.as_mut().map_or(Ok(()), |capture| capture.record(observation));
        self.unless_over(recorded)
    }

    /// Time until [`Self::flush`], [`Self::publish`] or [`Self::answer`] is due; `None` if none of them is needed.
    pub(super) fn due_in(&self) -> Option<Duration> {
        let capture = self.capture.as_ref().and_then(CaptureFile::due_in);
        let snapshot = self.publisher.as_ref().and_then(Publisher::due_in);
        let series = self.series.as_ref().and_then(|(_, source)| source.due_in());
        capture.into_iter().chain(snapshot).chain(series).min()
    }

    /// Writes buffered events, and the capture's block if it is due; an error ends the capture.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.each(|sink| sink.flush());
        let flushed = self.capture.as_mut().map_or(Ok(()), CaptureFile::flush_if_due);
        self.unless_over(flushed)
    }

    /// Logs a problem at once. The report contains it too, but may be printed days later, for another reader.
    pub(super) fn warn(&self, trouble: &str) {
        if self.observing_is_over {
            tracing::warn!("{trouble}");
        } else {
            tracing::warn!("{trouble}; observing continues");
        }
    }

    /// Logs a problem at once, and keeps it for the report.
    pub(super) fn fail(&mut self, trouble: String) {
        self.warn(&trouble);
        self.troubles.push(trouble);
    }

    /// Notes that observing is over, so that warnings no longer state that it continues.
    pub(super) fn end_of_observing(&mut self) {
        self.observing_is_over = true;
    }

    /// Notes that observing failed. The capture is incomplete, so it gets no end mark.
    pub(super) fn abandon(&mut self, why: &str) {
        self.capture = None;
        self.is_abandoned = true;
        self.troubles.push(why.to_owned());
    }

    /// Whether observing failed.
    pub(super) const fn is_abandoned(&self) -> bool {
        self.is_abandoned
    }

    /// Writes the rest of the capture and its end mark.
    pub(super) fn end_capture(&mut self) -> io::Result<()> {
        self.capture.take().map_or(Ok(()), CaptureFile::finish)
    }

    /// Writes buffered events, and returns the problems, one sentence each.
    pub(super) fn finish(mut self) -> Vec<String> {
        self.each(|sink| sink.flush());
        self.troubles
    }

    fn with_series(&mut self, act: impl FnOnce(&mut SeriesSource)) {
        let Some((_, source)) = &mut self.series else { return };
        if catch_unwind(AssertUnwindSafe(|| act(source))).is_err() {
            source.fail();
            let trouble = "metrics ended because of an internal error; please report it";
            self.warn(trouble);
            self.troubles.push(trouble.to_owned());
        }
    }

    fn unless_over(&mut self, written: io::Result<()>) -> io::Result<()> {
        if written.is_err() {
            self.capture = None;
        }
        written
    }

    /// Calls each receiver, and removes those that fail, for example because the disk is full, or that panic.
    fn each(&mut self, mut call: impl FnMut(&mut dyn EventSink) -> io::Result<()>) {
        let mut failed = Vec::new();
        let mut undelivered = 0_u64;
        self.sinks.retain_mut(|sink| {
            let called = catch_unwind(AssertUnwindSafe(|| call(sink.as_mut())));
            let trouble = match called {
                Ok(Ok(())) => return true,
                Ok(Err(error)) => format!("stopped writing {}: {error}", sink.name()),
                Err(_panic) => format!("stopped writing {} because of an internal error; please report it", sink.name()),
            };
            failed.push(trouble);
            let given_up = catch_unwind(AssertUnwindSafe(|| sink.give_up())).unwrap_or_default();
            undelivered = undelivered.saturating_add(given_up);
            false
        });
        self.undelivered = self.undelivered.saturating_add(undelivered);
        for trouble in &failed {
            self.warn(trouble);
        }
        self.troubles.append(&mut failed);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::sync::Arc;

    use observer_core::observer::{Missed, Totals};
    use observer_core::time::Timestamp;

    use super::*;

    #[test]
    fn final_output_error_does_not_claim_observing_continues() {
        for (is_over, said) in
            [(false, "stopped writing the view: full; observing continues"), (true, "stopped writing the view: full")]
        {
            let mut outputs = Outputs::new(vec![Box::new(Full)], None);
            if is_over {
                outputs.end_of_observing();
            }
            let (troubles, log) = logged(|| outputs.finish());
            assert_eq!(troubles, ["stopped writing the view: full"]);
            assert!(log.trim_end().ends_with(said), "{log}");
        }
    }

    #[test]
    fn records_of_a_receiver_that_fails_are_undelivered() {
        let mut outputs = Outputs::new(vec![Box::new(Full)], None);
        outputs.flush().unwrap();
        assert_eq!([(); 2].map(|()| outputs.take_undelivered()), [7, 0]);
    }

    struct Full;

    impl EventSink for Full {
        fn name(&self) -> &'static str {
            "the view"
        }

        fn event(&mut self, _event: &Event) -> io::Result<()> {
            Ok(())
        }

        fn totals(&mut self, _at: Timestamp, _totals: &Totals, _missed: &Missed) -> io::Result<()> {
            Ok(())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::Error::other("full"))
        }

        fn give_up(&mut self) -> u64 {
            7
        }
    }

    fn logged<T>(act: impl FnOnce() -> T) -> (T, String) {
        let log = tempfile::NamedTempFile::new().unwrap();
        let writer = Arc::new(File::create(log.path()).unwrap());
        let done = tracing::subscriber::with_default(tracing_subscriber::fmt().with_writer(writer).with_ansi(false).finish(), act);
        (done, fs::read_to_string(log.path()).unwrap())
    }
}
