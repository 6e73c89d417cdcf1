//! Reads logs on a thread of its own, ahead of the one that takes the observations.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;
use std::{io, mem, panic, thread};

use observer_core::logs::{LogExtent, LogReplay};
use observer_core::observation::Observation;

use super::merged::LogFiles;
use super::source::LogError;

/// Observations that are handed over at once.
const BATCH: usize = 512;
/// Batches that wait to be taken. More would only take memory.
const MOST_WAITING: usize = 4;
/// Longest time between two calls for what has been read so far.
const LOOK: Duration = Duration::from_millis(250);

/// Why logs cannot be read ahead.
#[derive(Debug, thiserror::Error)]
pub enum AheadError {
    /// The system has no room for a thread.
    #[error("cannot start a thread: {0}")]
    NoThread(io::Error),
    /// A log cannot be read.
    #[error(transparent)]
    Unreadable(#[from] LogError),
}

impl LogFiles {
    /// Reads all lines, and calls `each` with every batch of observations, in order of time. `each` also gets the number of bytes
    /// read so far, and is called several times a second, perhaps without observations. Reading is broken off once `is_over`. Returns
    /// the errors of logs that could be read only in part, too.
    pub fn replay_ahead(
        self,
        mut replay: LogReplay,
        is_over: &AtomicBool,
        each: &mut dyn FnMut(Vec<Observation>, u64),
    ) -> Result<(LogExtent, Vec<LogError>), AheadError> {
        let bytes = AtomicU64::new(0);
        thread::scope(|scope| {
            // Within the scope, so that a panic here ends the reader, too.
            let (sender, batches) = sync_channel(MOST_WAITING);
            let read = || {
                let mut outlet = Outlet { sender, batch: Vec::new() };
                let progress = &mut |read| {
                    bytes.store(read, Ordering::Relaxed);
                    if is_over.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                let result = self.replay(&mut replay, &mut |observation| outlet.take(observation), progress);
                outlet.flush();
                result.map(|failed| (replay.extent(), failed))
            };
            let reader = thread::Builder::new().name("logs".to_owned()).spawn_scoped(scope, read).map_err(AheadError::NoThread)?;
            pass_on(&batches, &bytes, each);
            Ok(reader.join().unwrap_or_else(|panic| panic::resume_unwind(panic))?)
        })
    }
}

/// Passes batches on until there are no more.
fn pass_on(batches: &Receiver<Vec<Observation>>, bytes: &AtomicU64, each: &mut dyn FnMut(Vec<Observation>, u64)) {
    loop {
        let batch = match batches.recv_timeout(LOOK) {
            Ok(batch) => batch,
            Err(RecvTimeoutError::Timeout) => Vec::new(),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        each(batch, bytes.load(Ordering::Relaxed));
    }
}

/// Where the reading thread puts its observations.
struct Outlet {
    sender: SyncSender<Vec<Observation>>,
    batch: Vec<Observation>,
}

impl Outlet {
    fn take(&mut self, observation: Observation) {
        if self.batch.capacity() == 0 {
            self.batch.reserve_exact(BATCH);
        }
        self.batch.push(observation);
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        // The receiver is gone if it panicked.
        let _gone = self.sender.send(mem::take(&mut self.batch));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::LogZone;
    use super::*;
    use crate::input_file::InputFile;

    #[test]
    fn observations_are_those_of_reading_on_one_thread() {
        let folder = tempfile::tempdir().unwrap();
        let event = |second: usize| {
            let time = format!("2026-11-22T02:{:02}:{:02}Z", second / 60 % 60, second % 60);
            format!(
                r#"{{"auditID":"{second}","stage":"ResponseComplete","verb":"get","requestURI":"/api/v1/pods","requestReceivedTimestamp":"{time}","stageTimestamp":"{time}"}}"#
            )
        };
        let path = folder.path().join("log");
        let text = (0..2_000).map(|second| event(second) + "\n").collect::<String>();
        fs::write(&path, &text).unwrap();
        let files = || LogFiles::of(vec![InputFile::open(&path).unwrap()], LogZone::default());
        let (mut replay, mut alone, mut ahead, mut read) = (LogReplay::default(), Vec::new(), Vec::new(), 0);
        files().replay(&mut replay, &mut |observation| alone.push(observation), &mut |_| ControlFlow::Continue(())).unwrap();
        let (extent, failed) = files()
            .replay_ahead(LogReplay::default(), &AtomicBool::new(false), &mut |batch, bytes| {
                assert!(batch.len() <= BATCH);
                ahead.extend(batch);
                read = bytes;
            })
            .unwrap();
        assert_eq!((extent, ahead.len(), failed.len()), (replay.extent(), alone.len(), 0));
        assert!(ahead == alone && read == text.len() as u64, "{read}");
    }

    #[test]
    fn reading_that_is_over_stops_after_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "{}\n".repeat(1_000)).unwrap();
        let files = LogFiles::of(vec![InputFile::open(&path).unwrap()], LogZone::default());
        let (extent, failed) = files.replay_ahead(LogReplay::default(), &AtomicBool::new(true), &mut |_, _| {}).unwrap();
        assert_eq!((extent.not_understood, failed.len()), (1, 0));
    }

    #[test]
    fn errors_of_reading_are_returned_with_the_extent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.gz");
        fs::write(&path, [0x1f, 0x8b, 8, 0, 1]).unwrap();
        let files = LogFiles::of(vec![InputFile::open(&path).unwrap()], LogZone::default());
        let (extent, failed) = files.replay_ahead(LogReplay::default(), &AtomicBool::new(false), &mut |_, _| {}).unwrap();
        assert_eq!((extent, failed.len()), (LogExtent::default(), 1));
        assert!(failed[0].to_string().contains("log.gz"), "{failed:?}");
    }
}
