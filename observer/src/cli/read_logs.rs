//! The logs that `watchtap read` reads: which files are logs, and what is stated about them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use observer_core::logs::LogExtent;

use super::progress_line::ProgressLine;
use crate::capture::Recording;
use crate::input_file::{Content, InputFile, is_stdin};
use crate::log_files::LogError;
use crate::printable::print_message;
use crate::signals::Interrupt;
use crate::view::{count, length, recognised_lines};

/// The files of a command line.
pub(super) enum Inputs {
    /// The files of one capture.
    Capture(Recording),
    /// The logs of one cluster, open.
    Logs(Vec<InputFile>),
}

impl Inputs {
    /// Opens files, each once, and finds out what they are: captures or logs, not both.
    pub(super) fn open(files: &[PathBuf]) -> Result<Self> {
        let mut opened = Vec::new();
        let (mut capture, mut log) = (None, None);
        for path in files {
            let file = InputFile::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            match file.content() {
                Content::Capture => capture = Some(path),
                Content::Other => log = Some(path),
                Content::Nothing => {}
            }
            // The files of a capture are put in order first. They stay closed until then, since there may be many.
            if file.content() != Content::Capture || files.len() == 1 {
                opened.push(file);
            }
        }
        match (capture, log) {
            (Some(capture), Some(log)) => {
                bail!("{} is a capture and {} is none: read them one at a time", capture.display(), log.display())
            }
            (None, Some(_)) => return Ok(Self::Logs(opened)),
            (None, None) if files.iter().any(|file| is_stdin(file)) => return Ok(Self::Logs(opened)),
            (_, None) => {}
        }
        Ok(Self::Capture(match opened.pop() {
            Some(file) if files.len() == 1 => Recording::of_one(file),
            Some(_) | None => Recording::of(files)?,
        }))
    }
}

/// Whether the logs were read completely. `failed` has the errors of those that could be read only in part. It is an error if
/// nothing is understood.
pub(super) fn is_complete(files: &[PathBuf], extent: &LogExtent, failed: &[LogError]) -> Result<bool> {
    if extent.events > 0 || extent.requests > 0 {
        return Ok(extent.is_complete() && failed.is_empty());
    }
    match failed.first() {
        Some(error) => bail!("{error}"),
        None => bail!("{}", nothing_understood(files, extent)),
    }
}

/// Warns of a log that could be read only in part.
pub(super) fn warn_of(error: &LogError) {
    print_message(format_args!("{error}; the report has its lines up to there"));
}

/// The error for files without anything that `watchtap read` understands.
fn nothing_understood(files: &[PathBuf], extent: &LogExtent) -> String {
    let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    let names = names.join(", ");
    if names == "-" && extent.not_understood + extent.too_long == 0 {
        return "stdin is empty: pipe a log into it, such as the audit log of kube-apiserver".to_owned();
    }
    if let Some(forms) = recognised_lines(extent) {
        return format!(
            "{names}: no line has a request that can be reported; recognised are {forms}. The audit log of kube-apiserver has the \
             requests (docs/logs.md)"
        );
    }
    format!("{names}: not a watchtap capture, and no line has a request in a form that is read (docs/logs.md lists the forms)")
}

/// Shows on a terminal how much of the logs is read, at which rate, and how long the rest will take.
#[derive(Debug)]
pub(super) struct ReadProgress {
    line: ProgressLine,
    /// Bytes of all logs; `None` if unknown.
    all: Option<u64>,
    /// When reading began, and when the line was renewed last.
    times: Option<(Instant, Instant)>,
}

impl ReadProgress {
    /// The progress of reading `all` bytes.
    pub(super) fn of(all: Option<u64>) -> Self {
        Self { line: ProgressLine::default(), all, times: None }
    }

    /// Notes that so many bytes are read in total.
    pub(super) fn note(&mut self, bytes: u64) {
        /// How often the line is renewed.
        const EVERY: Duration = Duration::from_millis(250);
        let now = Instant::now();
        let (began, shown) = *self.times.get_or_insert((now, now));
        if now - shown >= EVERY {
            self.times = Some((began, now));
            self.line.show(progress(bytes, self.all, now - began));
        }
    }

    /// Clears the line.
    pub(super) fn end(&mut self) {
        self.line.end();
    }
}

/// Explains to a user who has pressed Ctrl-C why reading has not ended: it waits for the next line of a pipe.
#[derive(Debug, Default)]
pub(super) struct WaitForLine {
    since: Option<Instant>,
    is_announced: bool,
}

impl WaitForLine {
    /// Notes that reading has not ended.
    pub(super) fn note(&mut self, interrupt: &Interrupt) {
        /// Longer than the present line takes.
        const AFTER: Duration = Duration::from_millis(500);
        if interrupt.is_noted() && self.since.get_or_insert_with(Instant::now).elapsed() >= AFTER && !self.is_announced {
            self.is_announced = true;
            print_message("reading ends with the next line; Ctrl-C again ends it at once, without a report");
        }
    }
}

/// `read 512 of 2,048 MiB, 64 MiB/s, 24 s left`; without `all`, `read 512 MiB, 64 MiB/s`.
fn progress(bytes: u64, all: Option<u64>, took: Duration) -> String {
    let mebibytes = |bytes: u64| count(bytes >> 20);
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX).max(1);
    let rate = bytes.saturating_mul(1_000) / millis;
    // The file may have grown since it was opened.
    let Some(all) = all.filter(|all| *all >= bytes) else {
        return format!("read {} MiB, {} MiB/s", mebibytes(bytes), mebibytes(rate));
    };
    let left = (all - bytes)
        .checked_div(rate)
        .map_or_else(String::new, |seconds| format!(", {} left", length(Duration::from_secs(seconds))));
    format!("read {} of {} MiB, {} MiB/s{left}", mebibytes(bytes), mebibytes(all), mebibytes(rate))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use observer_core::capture::MAGIC;

    use super::*;

    #[test]
    fn progress_has_the_rest_if_the_size_is_known() {
        let shown = |all| progress(512 << 20, all, Duration::from_secs(8));
        assert_eq!(shown(Some(2_048 << 20)), "read 512 of 2,048 MiB, 64 MiB/s, 24 s left");
        assert_eq!(shown(None), "read 512 MiB, 64 MiB/s");
        assert_eq!(shown(Some(1)), "read 512 MiB, 64 MiB/s", "the file has grown");
        assert_eq!(progress(0, Some(1 << 20), Duration::ZERO), "read 0 of 1 MiB, 0 MiB/s");
    }

    #[test]
    fn captures_and_logs_are_distinguished() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            path
        };
        let capture = file("run.cap", MAGIC.as_slice());
        let (empty, missing) = (file("empty", b""), folder.path().join("missing"));
        let log = file("audit.log", b"{}\n");
        let open = |files: &[&PathBuf]| Inputs::open(&files.iter().map(|file| (*file).clone()).collect::<Vec<_>>());
        assert!(matches!(open(&[&capture]), Ok(Inputs::Capture(_))));
        assert!(matches!(open(&[&empty]), Ok(Inputs::Capture(_))));
        assert!(matches!(open(&[&log, &empty]), Ok(Inputs::Logs(_))));
        let refused = |files: &[&PathBuf]| open(files).err().unwrap().to_string();
        for files in [[&capture, &log], [&log, &capture]] {
            let refused = refused(&files);
            assert!(refused.contains("run.cap is a capture and") && refused.contains("audit.log is none"), "{refused}");
        }
        assert!(refused(&[&log, &missing]).contains("cannot read"), "{:?}", refused(&[&missing]));
    }
}
