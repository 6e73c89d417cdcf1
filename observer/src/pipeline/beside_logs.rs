//! Holds observations back until the log of the API server has their requests, and joins both.
//!
//! A server writes the events of a request to its log when the request ends, at about the time when the tap sees the end. So all observations wait
//! for a second: their order stays, and so do their times. The Observer and the capture get what the log adds as observations, too.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use observer_core::logs::{JoinedLogs, LogReplay};
use observer_core::observation::Observation;

use super::awaiting_process::memory_of;
use crate::log_files::{Caller, Changes, FollowedFiles, LogError, LogZone, NotFollowed};

/// How long observations wait for the log.
const HELD: Duration = Duration::from_secs(1);
/// How long records of the log wait to be put in order, by the times in it.
const IN_ORDER: Duration = Duration::from_millis(200);
/// Interval at which the Observer gets the numbers of joined requests.
const NUMBERS: Duration = Duration::from_secs(10);
/// Maximum number of records of the log that wait, and of their bytes.
const RECORDS: (usize, usize) = (8 << 10, 4 << 20);
/// Maximum number of requests of either side that are kept.
const REQUESTS: usize = 16 << 10;
/// Longest pause between two looks at the log.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// The logs of the API server beside a live run.
#[derive(Debug)]
pub struct BesideLogs {
    files: FollowedFiles,
    changes: Changes,
    _caller: Caller,
    replay: LogReplay,
    joined: JoinedLogs,
    held: VecDeque<Held>,
    bytes: usize,
    limit: usize,
    /// When the log was found to have nothing more.
    idle_since: Option<Instant>,
    numbered: Instant,
}

#[derive(Debug)]
struct Held {
    since: Instant,
    bytes: usize,
    observation: Observation,
}

/// Why logs cannot be read beside a run.
#[derive(Debug, thiserror::Error)]
pub enum NotBeside {
    /// Changes of files cannot be watched.
    #[error("cannot watch for changes of files: {0}")]
    Changes(#[from] io::Error),
    /// A log cannot be followed.
    #[error("--audit-log {0}")]
    Log(String),
}

impl BesideLogs {
    /// Opens the logs at their ends. At most `limit` bytes of observations wait.
    pub fn open(paths: &[PathBuf], zone: LogZone, limit: usize) -> Result<Self, NotBeside> {
        let (changes, caller) = Changes::open()?;
        let files =
            FollowedFiles::open_at_ends(paths, zone, &changes).map_err(|error: NotFollowed| NotBeside::Log(error.to_string()))?;
        let mut replay = LogReplay::within(RECORDS.0, RECORDS.1).without_later_records();
        files.begin(&mut replay);
        Ok(Self {
            files,
            changes,
            _caller: caller,
            replay,
            joined: JoinedLogs::within(REQUESTS),
            held: VecDeque::new(),
            bytes: 0,
            limit,
            idle_since: None,
            numbered: Instant::now(),
        })
    }

    /// Takes the next observation of the taps.
    pub(super) fn hold(&mut self, observation: Observation) {
        let bytes = memory_of(&observation);
        self.bytes = self.bytes.saturating_add(bytes);
        self.held.push_back(Held { since: Instant::now(), bytes, observation });
    }

    /// Whether no observation waits.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Reads what the logs have, and passes on the observations that have waited long enough.
    pub(super) fn turn(&mut self, emit: &mut dyn FnMut(Observation)) -> Result<(), LogError> {
        let read = self.read(emit);
        self.release(HELD, emit);
        if self.numbered.elapsed() >= NUMBERS {
            self.numbered = Instant::now();
            emit(self.joined.numbers());
        }
        read
    }

    /// Passes on all observations, each when it has waited long enough, unless `is_late`. Then the numbers.
    pub(super) fn finish(&mut self, is_late: &dyn Fn() -> bool, emit: &mut dyn FnMut(Observation)) {
        while !self.is_empty() && !is_late() && self.turn(emit).is_ok() {
            if self.changes.wait(PAUSE).is_err() {
                break;
            }
        }
        self.give_up(emit);
    }

    /// Passes on all observations now, and the numbers.
    pub(super) fn give_up(&mut self, emit: &mut dyn FnMut(Observation)) {
        let Self { files, replay, joined, .. } = self;
        files.finish(replay, &mut |logged| joined.logged(logged, emit));
        self.release(Duration::ZERO, emit);
        self.joined.finish(emit);
    }

    fn read(&mut self, emit: &mut dyn FnMut(Observation)) -> Result<(), LogError> {
        let Self { files, changes, replay, joined, idle_since, .. } = self;
        let began = Instant::now();
        while files.read(replay, &mut |logged| joined.logged(logged, emit), changes)? {
            if began.elapsed() >= PAUSE {
                // Records of a file that is behind would come too late.
                *idle_since = None;
                return Ok(());
            }
        }
        let idle = idle_since.get_or_insert_with(Instant::now).elapsed();
        let Some(reached) = files.reached() else { return Ok(()) };
        let until = if idle >= IN_ORDER { reached } else { reached.minus(IN_ORDER) };
        replay.pass_on(until, &mut |logged| joined.logged(logged, emit));
        Ok(())
    }

    /// Passes on what has waited so long, or has no room.
    fn release(&mut self, held: Duration, emit: &mut dyn FnMut(Observation)) {
        let Self { joined, replay, bytes: all, limit, .. } = self;
        while let Some(Held { bytes, observation, .. }) = self.held.pop_front_if(|one| one.since.elapsed() >= held || *all > *limit)
        {
            *all = all.saturating_sub(bytes);
            replay.learn_from(&observation);
            joined.observed(observation, emit);
        }
    }
}
