//! Reads several logs at once, each as far as the others.

use std::collections::BTreeSet;
use std::path::PathBuf;

use observer_core::logs::LogReplay;
use observer_core::observation::Observation;
use observer_core::time::Timestamp;

use super::lines::Line;
use super::source::{LogError, Source};

/// The logs of one cluster: of several API servers, or the parts of a log that was rotated.
#[derive(Debug)]
pub struct LogFiles {
    files: Vec<PathBuf>,
}

impl LogFiles {
    /// The logs with these paths; `-` is the standard input.
    pub fn of(files: &[PathBuf]) -> Self {
        Self { files: files.to_vec() }
    }

    /// Reads all lines, and calls `each` with every observation, in order of time. `progress` is called with the number of bytes read.
    ///
    /// Of several logs, the next line comes from the one whose last event is the earliest, so the logs of several servers advance together.
    pub fn replay(
        &self,
        replay: &mut LogReplay,
        each: &mut dyn FnMut(Observation),
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), LogError> {
        let mut sources = self.files.iter().map(|file| Source::open(file)).collect::<Result<Vec<_>, _>>()?;
        // The sources that have lines, by the time of their last event.
        let mut waiting: BTreeSet<(Option<Timestamp>, usize)> = (0..sources.len()).map(|number| (None, number)).collect();
        let mut line = Vec::new();
        let mut bytes: u64 = 0;
        while let Some((reached, number)) = waiting.pop_first() {
            let Some(source) = sources.get_mut(number) else { continue };
            match source.next(&mut line)? {
                Line::End => continue,
                Line::TooLong => replay.too_long(),
                Line::Read => {}
            }
            bytes = bytes.saturating_add(line.len() as u64 + 1);
            progress(bytes);
            // A line that was too long is empty here.
            let now = replay.line(&line, each);
            waiting.insert((now.max(reached), number));
        }
        replay.finish(each);
        Ok(())
    }
}
