//! Reads several logs at once, each as far as the others.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::SystemTime;

use observer_core::logs::{LogClock, LogReplay};
use observer_core::observation::Observation;
use observer_core::time::Timestamp;

use super::lines::Line;
use super::reached::Reached;
use super::source::{GZIP, LogError, Source};
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

    /// Number of bytes in all lines; `None` if it is unknown, because a log is packed or a pipe.
    pub fn bytes(&self) -> Option<u64> {
        self.files.iter().map(|file| file.length().filter(|_| !file.begin().starts_with(&GZIP))).sum()
    }

    /// Reads all lines, and calls `each` with every observation, in order of time. `progress` is called with the number of bytes
    /// read, and may break it off. Returns the errors of logs that could be read only in part.
    pub fn replay(
        self,
        replay: &mut LogReplay,
        each: &mut dyn FnMut(Observation),
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Vec<LogError>, LogError> {
        let mut logs = self.begin(replay)?;
        let (mut bytes, mut failed) = (0_u64, Vec::new());
        loop {
            match logs.next(replay, each) {
                Ok(Some(read)) => {
                    bytes = bytes.saturating_add(read as u64);
                    if progress(bytes).is_break() {
                        break;
                    }
                }
                Ok(None) => break,
                Err(error) => failed.push(error),
            }
        }
        replay.finish(each);
        Ok(failed)
    }

    /// Announces the logs to `replay`, each with its year and zone, to read them line by line.
    pub fn begin(self, replay: &mut LogReplay) -> Result<OpenLogs, LogError> {
        for (number, file) in self.files.iter().enumerate() {
            replay.begin(number, self.zone.clock(file));
        }
        let files = self.files.len();
        let sources = self.files.into_iter().map(|file| Source::among(files, file)).collect::<Result<Vec<_>, _>>()?;
        let logs = sources.into_iter().map(|source| OpenLog { source, reached: Reached::default() }).collect();
        let waiting = (0..files).map(|number| (None, number)).collect();
        Ok(OpenLogs { logs, waiting })
    }
}

/// Logs that are read line by line.
///
/// Of several logs, the next line comes from the one whose last event is the earliest, so the logs of several servers advance together.
pub struct OpenLogs {
    logs: Vec<OpenLog>,
    /// The logs that have lines, by the time that they have reached.
    waiting: BTreeSet<(Option<Timestamp>, usize)>,
}

struct OpenLog {
    source: Source,
    reached: Reached,
}

impl OpenLogs {
    /// The time until which all logs have been read. `None` if one of them has not shown two times yet.
    pub fn reached(&self) -> Option<Timestamp> {
        self.waiting.first().map_or(Some(Timestamp::from_nanos(u64::MAX)), |(reached, _)| *reached)
    }

    /// Reads the next line, and calls `each` with the observations that have no room to wait. Returns the number of its bytes;
    /// `None` if there are no further lines. An error ends its log, and the next call reads the others.
    pub fn next(&mut self, replay: &mut LogReplay, each: &mut dyn FnMut(Observation)) -> Result<Option<usize>, LogError> {
        let Self { logs, waiting } = self;
        while let Some((_, number)) = waiting.pop_first() {
            let Some(OpenLog { source, reached }) = logs.get_mut(number) else { continue };
            let line = match source.next() {
                Ok(Line::End) => {
                    replay.end_of(number);
                    continue;
                }
                Ok(Line::TooLong) => {
                    replay.too_long();
                    &[]
                }
                Ok(Line::Read(line)) => line,
                Err(error) => {
                    replay.end_of(number);
                    return Err(error);
                }
            };
            reached.note(replay.line(number, line, each));
            waiting.insert((reached.at(), number));
            return Ok(Some(line.len() + 1));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::path::Path;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// An event of a request that took a second.
    fn event(second: u64) -> String {
        let time = |second: u64| format!("2026-11-22T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60);
        format!(
            r#"{{"auditID":"{second}","stage":"ResponseComplete","verb":"get","requestURI":"/api/v1/pods","requestReceivedTimestamp":"{}","stageTimestamp":"{}"}}"#,
            time(second),
            time(second + 1)
        )
    }

    /// The lines with the events of these seconds.
    fn text(seconds: impl IntoIterator<Item = u64>) -> String {
        seconds.into_iter().map(|second| event(second) + "\n").collect()
    }

    fn opened(path: &Path, content: &[u8]) -> InputFile {
        fs::write(path, content).unwrap();
        InputFile::open(path).unwrap()
    }

    /// Replays logs with events of these seconds, through a window of so many records. Returns the number of events that came too late.
    fn late(records: usize, logs: &[Vec<u64>]) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        let file = |(number, log): (usize, &Vec<u64>)| {
            opened(&folder.path().join(number.to_string()), text(log.iter().copied()).as_bytes())
        };
        let files = LogFiles::of(logs.iter().enumerate().map(file).collect(), LogZone::default());
        let (mut replay, mut observed) = (LogReplay::within(records, usize::MAX), Vec::new());
        files.replay(&mut replay, &mut |observation| observed.push(observation.at), &mut |_| ControlFlow::Continue(())).unwrap();
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

    #[test]
    fn one_event_far_in_the_future_does_not_hold_its_log_back() {
        for far in [0, 50] {
            let even = (0..far).step_by(2).chain([20_000]).chain((far..200).step_by(2)).collect();
            assert_eq!(late(16, &[even, (1..200).step_by(2).collect()]), 0, "after {far} seconds");
        }
    }

    #[test]
    fn log_that_can_be_read_only_in_part_does_not_end_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut packed = GzEncoder::new(Vec::new(), Compression::none());
        packed.write_all(text(300..400).as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let torn = opened(&folder.path().join("torn.gz"), &packed[..packed.len() / 2]);
        let complete = opened(&folder.path().join("complete"), text(0..300).as_bytes());
        let mut replay = LogReplay::default();
        let failed = LogFiles::of(vec![torn, complete], LogZone::default())
            .replay(&mut replay, &mut |_| {}, &mut |_| ControlFlow::Continue(()))
            .unwrap();
        let failed: Vec<String> = failed.iter().map(ToString::to_string).collect();
        assert!(matches!(failed.as_slice(), [error] if error.contains("torn.gz")), "{failed:?}");
        let extent = replay.extent();
        assert!((310..390).contains(&extent.requests), "{extent:?}");
        assert_eq!(extent.not_understood, 0, "the torn line is left out");
    }
}
