//! `watchtap read --audit-log`: the logs of the API server beside a capture of the same time.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use observer_core::logs::{JoinedLogs, LogExtent, LogReplay};
use observer_core::observation::Observation;

use crate::input_file::{Content, InputFile};
use crate::log_files::{LogError, LogFiles, LogZone, OpenLogs};

/// How much further the logs are read than they are passed on, by the times in them. Servers write an event within milliseconds.
const HELD: Duration = Duration::from_secs(2);

/// The logs beside a capture, read a little further than it.
pub(super) struct Beside {
    logs: OpenLogs,
    replay: LogReplay,
    joined: JoinedLogs,
    failed: Option<LogError>,
}

impl Beside {
    /// Opens the logs.
    pub(super) fn open(paths: &[PathBuf], zone: LogZone) -> Result<Self> {
        let mut files = Vec::new();
        for path in paths {
            let file = InputFile::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            if file.content() == Content::Capture {
                bail!("--audit-log {}: this is a capture, and not a log", path.display());
            }
            files.push(file);
        }
        let mut replay = LogReplay::default();
        let logs = LogFiles::of(files, zone).begin(&mut replay)?;
        Ok(Self { logs, replay, joined: JoinedLogs::default(), failed: None })
    }

    /// Passes on an observation of the capture, with what the logs add to it. If the logs cannot be read, it is passed on alone.
    pub(super) fn observe(&mut self, observation: Observation, each: &mut dyn FnMut(Observation)) {
        self.replay.learn_from(&observation);
        let Self { logs, replay, joined, failed } = self;
        joined.expect(observation.at);
        let until = observation.at.of_wall_clock().plus(JoinedLogs::WAITS);
        while failed.is_none() && logs.reached() < Some(until) {
            match logs.next(replay, &mut |logged| joined.logged(logged, each)) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => *failed = Some(error),
            }
        }
        replay.pass_on(until.minus(HELD), &mut |logged| joined.logged(logged, each));
        joined.observed(observation, each);
    }

    /// Passes on the numbers. Returns the extent of the logs, as far as they were read: a little longer than the capture.
    pub(super) fn finish(mut self, each: &mut dyn FnMut(Observation)) -> Result<LogExtent> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        let Self { replay, joined, .. } = &mut self;
        replay.finish(&mut |logged| joined.logged(logged, each));
        joined.finish(each);
        Ok(replay.extent())
    }
}
