//! Reads several logs at once, each as far as the others.

use std::collections::BTreeSet;
use std::time::SystemTime;

use observer_core::logs::{LogClock, LogReplay};
use observer_core::observation::Observation;
use observer_core::time::Timestamp;

use super::lines::Line;
use super::source::{LogError, Source};
use crate::input_file::InputFile;

/// The logs of one cluster: of several API servers, or the parts of a log that was rotated.
pub struct LogFiles {
    files: Vec<InputFile>,
    zone: LogZone,
}

/// The year and the zone of lines that state neither, such as those of klog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogZone {
    /// The year; `None` for the one in which the file was changed last, or the present one for pipes.
    pub year: Option<u16>,
    /// The offset from UTC in seconds, at most 14 hours; east is positive. `None` for UTC.
    pub utc_offset_seconds: Option<i32>,
}

impl LogZone {
    fn clock(self, file: &InputFile) -> LogClock {
        self.clock_until(file.modified().unwrap_or_else(SystemTime::now))
    }

    /// The clock of a file that was changed last at this time.
    pub(super) fn clock_until(self, modified: SystemTime) -> LogClock {
        let utc_offset_seconds = self.utc_offset_seconds.unwrap_or(0);
        if let Some(year) = self.year {
            return LogClock::of_year(year, utc_offset_seconds);
        }
        let until = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let until = Timestamp::from_nanos(u64::try_from(until.as_nanos()).unwrap_or(u64::MAX));
        LogClock::until(until, utc_offset_seconds)
    }
}

impl LogFiles {
    /// The logs in these files.
    pub const fn of(files: Vec<InputFile>, zone: LogZone) -> Self {
        Self { files, zone }
    }

    /// Reads all lines, and calls `each` with every observation, in order of time. `progress` is called with the number of bytes read.
    pub fn replay(
        self,
        replay: &mut LogReplay,
        each: &mut dyn FnMut(Observation),
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), LogError> {
        let mut logs = self.begin(replay)?;
        let mut bytes: u64 = 0;
        while let Some(read) = logs.next(replay, each)? {
            bytes = bytes.saturating_add(read as u64);
            progress(bytes);
        }
        replay.finish(each);
        Ok(())
    }

    /// Announces the logs to `replay`, each with its year and zone, to read them line by line.
    pub fn begin(self, replay: &mut LogReplay) -> Result<OpenLogs, LogError> {
        for (number, file) in self.files.iter().enumerate() {
            replay.begin(number, self.zone.clock(file));
        }
        let sources = self.files.into_iter().map(Source::of).collect::<Result<Vec<_>, _>>()?;
        let waiting = (0..sources.len()).map(|number| (None, number)).collect();
        Ok(OpenLogs { sources, waiting })
    }
}

/// Logs that are read line by line.
///
/// Of several logs, the next line comes from the one whose last event is the earliest, so the logs of several servers advance together.
pub struct OpenLogs {
    sources: Vec<Source>,
    /// The sources that have lines, by the time of their last event.
    waiting: BTreeSet<(Option<Timestamp>, usize)>,
}

impl OpenLogs {
    /// The time until which all logs have been read. `None` if one of them has shown no time yet.
    pub fn reached(&self) -> Option<Timestamp> {
        self.waiting.first().map_or(Some(Timestamp::from_nanos(u64::MAX)), |(reached, _)| *reached)
    }

    /// Reads the next line, and calls `each` with the observations that have no room to wait. Returns the number of its bytes; `None` if there
    /// are no further lines.
    pub fn next(&mut self, replay: &mut LogReplay, each: &mut dyn FnMut(Observation)) -> Result<Option<usize>, LogError> {
        let Self { sources, waiting } = self;
        while let Some((reached, number)) = waiting.pop_first() {
            let Some(source) = sources.get_mut(number) else { continue };
            let line = match source.next()? {
                Line::End => {
                    replay.end_of(number);
                    continue;
                }
                Line::TooLong => {
                    replay.too_long();
                    &[]
                }
                Line::Read(line) => line,
            };
            let now = replay.line(number, line, each);
            waiting.insert((now.max(reached), number));
            return Ok(Some(line.len() + 1));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// An event of a request that took a second.
    fn event(second: u64) -> String {
        let time = |second: u64| format!("2026-11-22T02:{:02}:{:02}Z", second / 60, second % 60);
        format!(
            r#"{{"auditID":"{second}","stage":"ResponseComplete","verb":"get","requestURI":"/api/v1/pods","requestReceivedTimestamp":"{}","stageTimestamp":"{}"}}"#,
            time(second),
            time(second + 1)
        )
    }

    /// Replays logs with events of these seconds, through a window of so many records. Returns the number of events that came too late.
    fn late(records: usize, logs: &[Vec<u64>]) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        let file = |(number, log): (usize, &Vec<u64>)| {
            let path = folder.path().join(number.to_string());
            fs::write(&path, log.iter().map(|second| event(*second) + "\n").collect::<String>()).unwrap();
            InputFile::open(&path).unwrap()
        };
        let files = LogFiles::of(logs.iter().enumerate().map(file).collect(), LogZone::default());
        let (mut replay, mut observed) = (LogReplay::within(records, usize::MAX), Vec::new());
        files.replay(&mut replay, &mut |observation| observed.push(observation.at), &mut |_| {}).unwrap();
        let extent = replay.extent();
        assert_eq!(extent.requests, logs.iter().map(|log| log.len() as u64).sum::<u64>());
        assert_eq!(extent.late == 0, observed.is_sorted());
        extent.late
    }

    #[test]
    fn logs_advance_together() {
        // Of two servers, the second log of which begins later and has a gap.
        let servers = [(0..200).step_by(2).collect(), (61..81).chain(171..300).step_by(2).collect::<Vec<_>>()];
        // A log that was rotated, the newest part first.
        let parts = [(200..300).collect(), (100..200).collect(), (0..100).collect::<Vec<_>>()];
        assert_eq!((late(8, &servers), late(8, &parts)), (0, 0));
        let out_of_order = (200..300).chain(0..100).collect();
        assert!(late(8, &[out_of_order]) > 0, "the window is small");
    }
}
