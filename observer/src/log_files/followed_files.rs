//! Several logs that grow, each read as far as the others.

use std::io;
use std::path::PathBuf;

use observer_core::logs::{LogClock, LogReplay};
use observer_core::observation::Observation;
use observer_core::time::Timestamp;

use super::changes::Changes;
use super::followed::{FollowedFile, NotFollowed};
use super::merged::LogZone;
use super::reached::Reached;
use super::source::LogError;

/// Bytes that are read of a log before the next one has its turn.
const TURN: usize = 256 << 10;

/// The logs of one cluster, as they grow.
///
/// The log that is furthest behind, by the times of its lines, is read next. So logs with unlike numbers of lines advance together.
#[derive(Debug)]
pub(crate) struct FollowedFiles {
    logs: Vec<FollowedLog>,
    zone: LogZone,
    buffer: Vec<u8>,
}

/// A log, and how far it is read.
#[derive(Debug)]
struct FollowedLog {
    number: usize,
    file: FollowedFile,
    reached: Reached,
    /// The clock of its lines; `None` before it was renewed once.
    clock: Option<LogClock>,
    /// Whether an error of reading has ended it.
    is_ended: bool,
}

impl FollowedFiles {
    /// Opens the files.
    pub(crate) fn open(paths: &[PathBuf], zone: LogZone, changes: &Changes) -> Result<Self, NotFollowed> {
        let mut logs = Vec::new();
        for (number, path) in paths.iter().enumerate() {
            let file = FollowedFile::open(path)?;
            logs.push(FollowedLog { number, file, reached: Reached::default(), clock: None, is_ended: false });
        }
        for path in paths {
            changes.add(path);
        }
        Ok(Self { logs, zone, buffer: vec![0; TURN] })
    }

    /// Opens the files at their ends, to read only what is added from now on.
    pub(crate) fn open_at_ends(paths: &[PathBuf], zone: LogZone, changes: &Changes) -> Result<Self, NotFollowed> {
        let mut opened = Self::open(paths, zone, changes)?;
        for FollowedLog { file, .. } in &mut opened.logs {
            file.seek_end().map_err(|error| file.failed(error))?;
        }
        Ok(opened)
    }

    /// Announces the logs to `replay`, each with the year of its last change.
    pub(crate) fn begin(&self, replay: &mut LogReplay) {
        for FollowedLog { number, file, .. } in &self.logs {
            replay.begin(*number, self.zone.clock_until(file.modified()));
        }
    }

    /// The latest time that one of the logs has reached; `None` if no line had a time yet.
    pub(crate) fn reached(&self) -> Option<Timestamp> {
        Reached::latest(self.logs.iter().map(|log| log.reached))
    }

    /// Whether errors have ended all logs.
    pub(crate) fn is_over(&self) -> bool {
        self.logs.iter().all(|log| log.is_ended)
    }

    /// Reads one turn of the log that is furthest behind, of those that have something to read. Returns whether there may be more
    /// to read at once. An error ends its log, and the next call reads the others.
    pub(crate) fn read(
        &mut self,
        replay: &mut LogReplay,
        each: &mut dyn FnMut(Observation),
        changes: &Changes,
    ) -> Result<bool, LogError> {
        let Self { logs, zone, buffer } = self;
        let mut open: Vec<&mut FollowedLog> = logs.iter_mut().filter(|log| !log.is_ended).collect();
        // A log that is ahead waits, and its file may grow again beyond its former length meanwhile.
        for log in &mut open {
            if let Err(error) = log.rewind_if_truncated(replay, each) {
                return Err(log.end(error, replay));
            }
        }
        // Logs without a time yet come first.
        open.sort_by_key(|log| log.reached.at());
        for log in open {
            match log.turn(buffer, *zone, replay, each, changes) {
                Ok(false) => {}
                Ok(true) => return Ok(true),
                Err(error) => return Err(log.end(error, replay)),
            }
        }
        Ok(false)
    }

    /// Notes that no file will grow. The last line of each may lack its end.
    pub(crate) fn finish(&mut self, replay: &mut LogReplay, each: &mut dyn FnMut(Observation)) {
        for log in self.logs.iter_mut().filter(|log| !log.is_ended) {
            let FollowedLog { number, file, reached, .. } = log;
            file.flush(&mut |line| reached.note(take(replay, *number, line, each)));
            replay.end_of(*number);
        }
        replay.finish(each);
    }
}

impl FollowedLog {
    fn rewind_if_truncated(&mut self, replay: &mut LogReplay, each: &mut dyn FnMut(Observation)) -> io::Result<()> {
        let Self { number, file, reached, .. } = self;
        file.rewind_if_truncated(&mut |line| reached.note(take(replay, *number, line, each)))
    }

    /// Reads as much as `buffer` has room for, or looks for another file of its name. Returns whether there may be more to read at
    /// once.
    fn turn(
        &mut self,
        buffer: &mut [u8],
        zone: LogZone,
        replay: &mut LogReplay,
        each: &mut dyn FnMut(Observation),
        changes: &Changes,
    ) -> io::Result<bool> {
        let read = self.file.fill(buffer)?;
        if read > 0 {
            self.renew_clock(zone, replay);
        }
        let Self { number, file, reached, .. } = self;
        let each_line: &mut dyn FnMut(Option<&[u8]>) = &mut |line| reached.note(take(replay, *number, line, each));
        if read == 0 {
            return file.rotate(changes, each_line);
        }
        file.split(buffer.get(..read).unwrap_or_default(), each_line);
        Ok(true)
    }

    /// Renews the clock for lines that have just been written, if it is another day. The log may be read over New Year.
    fn renew_clock(&mut self, zone: LogZone, replay: &mut LogReplay) {
        let clock = zone.clock_until(self.file.modified());
        if self.clock.replace(clock) != Some(clock) {
            replay.renew_clock(self.number, clock);
        }
    }

    /// Ends the log after an error. The beginning of a line is dropped.
    fn end(&mut self, error: io::Error, replay: &mut LogReplay) -> LogError {
        self.is_ended = true;
        replay.end_of(self.number);
        self.file.failed(error)
    }
}

/// Passes a line on; `None` is one that is too long. Returns the latest time that it has.
fn take(replay: &mut LogReplay, number: usize, line: Option<&[u8]>, each: &mut dyn FnMut(Observation)) -> Option<Timestamp> {
    let Some(line) = line else {
        replay.too_long();
        return None;
    };
    replay.line(number, line, each)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::time::{Duration, SystemTime};

    use observer_core::logs::LogExtent;

    use super::*;

    /// An event of this second, with so many bytes more than it needs.
    fn event(id: &str, second: u64, padding: usize) -> String {
        let time = format!("2026-11-22T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60);
        let agent = "a".repeat(padding);
        format!(
            r#"{{"auditID":"{id}-{second}","stage":"ResponseComplete","verb":"get","requestURI":"/api/v1/pods","userAgent":"{agent}","requestReceivedTimestamp":"{time}","stageTimestamp":"{time}"}}"#
        ) + "\n"
    }

    /// Logs in a folder of their own, as far as they are read.
    struct Scene {
        paths: Vec<PathBuf>,
        followed: FollowedFiles,
        changes: Changes,
        replay: LogReplay,
        _folder: tempfile::TempDir,
    }

    impl Scene {
        /// Begins to follow logs with these contents, through a window of so many records.
        fn new(records: usize, contents: &[String]) -> Self {
            let (folder, changes) = (tempfile::tempdir().unwrap(), Changes::open().unwrap().0);
            let paths: Vec<PathBuf> = (0..contents.len()).map(|number| folder.path().join(format!("{number}.log"))).collect();
            for (path, content) in paths.iter().zip(contents) {
                fs::write(path, content).unwrap();
            }
            let followed = FollowedFiles::open(&paths, LogZone::default(), &changes).unwrap();
            Self { paths, followed, changes, replay: LogReplay::within(records, usize::MAX), _folder: folder }
        }

        /// Adds to a log, which was changed last at `modified` then.
        fn append(&self, number: usize, text: &str, modified: SystemTime) {
            let mut file = fs::OpenOptions::new().append(true).open(&self.paths[number]).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.set_modified(modified).unwrap();
        }

        /// Reads until there is nothing more. Returns the errors.
        fn read(&mut self) -> Vec<String> {
            let Self { followed, changes, replay, .. } = self;
            let mut errors = Vec::new();
            loop {
                match followed.read(replay, &mut |_| {}, changes) {
                    Ok(true) => {}
                    Ok(false) => return errors,
                    Err(error) => errors.push(error.to_string()),
                }
            }
        }

        fn finish(mut self) -> LogExtent {
            self.followed.finish(&mut self.replay, &mut |_| {});
            self.replay.extent()
        }
    }

    #[test]
    fn backlogs_of_unlike_density_advance_together() {
        let seconds = 3_000;
        // A turn has four minutes of one log, and twenty of the other.
        let contents = [("dense", 1_000), ("sparse", 0)]
            .map(|(id, padding)| (0..seconds).map(|second| event(id, second, padding)).collect::<String>());
        assert!(contents.iter().all(|content| content.len() > TURN));
        // The window has room for a turn of each.
        let mut scene = Scene::new(4_096, &contents);
        assert_eq!(scene.read(), [] as [&str; 0]);
        let extent = scene.finish();
        assert_eq!((extent.requests, extent.late), (2 * seconds, 0));
    }

    #[test]
    fn line_far_in_the_future_is_no_time_that_is_reached() {
        let far = event("far", 5 * 3600, 0);
        let mut scene = Scene::new(100, &[[event("a", 1, 0), far, event("b", 2, 0)].concat(), event("c", 1, 0)]);
        scene.read();
        assert_eq!(scene.followed.reached(), Timestamp::from_rfc3339("2026-11-22T00:00:02Z"));
        assert_eq!(scene.finish().requests, 4);
    }

    #[test]
    fn lines_after_new_year_have_the_new_year() {
        let line = |date: &str, id: &str| {
            let request = format!(r#""HTTP" verb="LIST" URI="/api/v1/pods" latency="1ms" audit-ID="{id}" resp=200"#);
            format!("I{date} 00:00:01.000000      12 httplog.go:132] {request}\n")
        };
        let new_year = SystemTime::UNIX_EPOCH + Duration::from_hours(490_896);
        let mut scene = Scene::new(100, &[String::new()]);
        scene.append(0, &line("1231", "a"), new_year - Duration::from_hours(23));
        scene.followed.begin(&mut scene.replay);
        scene.read();
        assert_eq!(scene.followed.reached(), Timestamp::from_rfc3339("2025-12-31T00:00:01Z"));
        scene.append(0, &line("0101", "b"), new_year + Duration::from_secs(1));
        scene.read();
        assert_eq!(scene.finish().until, Timestamp::from_rfc3339("2026-01-01T00:00:01Z"));
    }

    #[test]
    fn log_that_cannot_be_read_ends_and_the_others_continue() {
        let mut scene = Scene::new(100, &[event("a", 1, 0), event("b", 1, 0)]);
        scene.followed.begin(&mut scene.replay);
        scene.read();
        scene.followed.logs[0].file.become_unreadable();
        scene.append(1, &event("b", 2, 0), SystemTime::now());
        let errors = scene.read();
        assert!(matches!(errors.as_slice(), [error] if error.contains("0.log")), "{errors:?}");
        assert!(!scene.followed.is_over());
        scene.followed.logs[1].file.become_unreadable();
        assert_eq!((scene.read().len(), scene.followed.is_over()), (1, true));
        assert_eq!(scene.finish().requests, 3);
    }
}
