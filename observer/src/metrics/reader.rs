//! Reads the numbers of all metrics: those of the core, and those that only the shell knows.

use std::sync::Arc;

use observer_core::series::{Build, Samples, ShellNumbers, TapWord};

use super::process;
use crate::pipeline::{NoSeries, SeriesReader};

/// A reader of all numbers of a run.
#[derive(Clone, Debug)]
pub struct MetricsReader {
    series: SeriesReader,
    tap: TapWord,
    /// Read once, so that it does not move with the wall clock.
    process_started_us: Option<u64>,
}

impl MetricsReader {
    /// Adds the shell's numbers to those of `series`, which are of `tap`.
    pub fn new(series: SeriesReader, tap: TapWord) -> Self {
        Self { series, tap, process_started_us: process::started_us() }
    }

    /// The present numbers.
    pub async fn read(&self) -> Result<Samples, NoSeries> {
        let queue = self.series.queued_bytes();
        self.series.read().await.map(|samples| self.complete(samples, queue))
    }

    /// Asks for [`MetricsReader::last`].
    pub fn want_last(&self) {
        self.series.want_last();
    }

    /// The numbers at the end of observing; `None` before it, or if they were not wanted or could not be read.
    pub fn last(&self) -> Option<Samples> {
        self.series.last().map(|samples| self.complete(samples, self.series.queued_bytes()))
    }

    /// Whether observing continues.
    pub(super) fn is_alive(&self) -> bool {
        self.series.is_alive()
    }

    fn complete(&self, samples: Arc<Samples>, queue: usize) -> Samples {
        let shell = ShellNumbers {
            build: Some(self.build()),
            observing_queue_bytes: Some(queue as u64),
            probe_files: self.series.probe_files(),
            probe_addresses: self.series.probe_addresses(),
            process: self.process_started_us.and_then(process::numbers),
        };
        Arc::unwrap_or_clone(samples).with(&shell)
    }

    fn build(&self) -> Build {
        let revision = option_env!("WATCHTAP_REVISION").unwrap_or_default();
        Build { version: env!("CARGO_PKG_VERSION").to_owned(), revision: revision.to_owned(), tap: self.tap }
    }
}
