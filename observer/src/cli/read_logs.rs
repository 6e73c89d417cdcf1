//! The logs that `watchtap read` reads: which files are logs, and what is stated about them.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use observer_core::capture::MAGIC;
use observer_core::logs::{AuditLevel, AuditStage, LogExtent};
use observer_core::quantity::{counted, counted_as};

use super::progress_line::ProgressLine;

/// Whether these are files of logs: the standard input, or files that do not begin as a capture does. A file that cannot be read is no log.
pub(super) fn are_logs(files: &[PathBuf]) -> bool {
    files.iter().any(|file| is_stdin(file) || begins_as_no_capture(file))
}

/// Whether a path stands for the standard input.
pub(super) fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// The error for files without anything that `watchtap read` understands.
pub(super) fn nothing_understood(files: &[PathBuf], extent: &LogExtent) -> String {
    let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    let names = names.join(", ");
    if names == "-" && extent.not_understood + extent.too_long == 0 {
        return "stdin is empty: pipe an audit log of kube-apiserver into it".to_owned();
    }
    format!("{names}: not a watchtap capture, and not one line is an audit event of kube-apiserver (docs/logs.md lists the forms)")
}

fn begins_as_no_capture(file: &Path) -> bool {
    let mut begin = Vec::new();
    let read = File::open(file).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut begin));
    read.is_ok() && !begin.is_empty() && !MAGIC.starts_with(&begin)
}

/// The note on what no log has.
const NO_BODIES: &str = "the log has no bodies, bytes and connections: zeros for objects, events, bookmarks and bytes stand for unknown, and a \
                         connection for a client";

/// Shows how many bytes of the logs are read, on a terminal.
#[derive(Debug, Default)]
pub(super) struct ReadProgress {
    line: ProgressLine,
    shown: Option<Instant>,
}

impl ReadProgress {
    /// Notes that so many bytes are read in total.
    pub(super) fn note(&mut self, bytes: u64) {
        /// How often the line is renewed.
        const EVERY: Duration = Duration::from_millis(250);
        let shown = *self.shown.get_or_insert_with(Instant::now);
        if shown.elapsed() >= EVERY {
            self.shown = Some(Instant::now());
            self.line.show(format_args!("read {} MiB", bytes >> 20));
        }
    }

    /// Clears the line.
    pub(super) fn end(&mut self) {
        self.line.end();
    }
}

/// The sentences about the extent of logs: what they show, and what was not understood.
pub(super) fn notes(extent: &LogExtent) -> Vec<String> {
    let mut notes = vec![shown(extent), NO_BODIES.to_owned()];
    let envelopes: Vec<String> =
        extent.envelopes.iter().map(|(envelope, lines)| format!("{} ({})", envelope.name(), counted(*lines, "line"))).collect();
    if !envelopes.is_empty() {
        notes.push(format!("envelopes: {}", envelopes.join(", ")));
    }
    if !extent.stages.is_empty() && !extent.stages.contains(&AuditStage::ResponseStarted) {
        notes.push("the log has no stage ResponseStarted: a watch is known only after its end".to_owned());
    }
    let left_out = [
        (extent.not_understood, "line is not understood", "lines are not understood"),
        (extent.too_long, "line is longer than 16 MiB", "lines are longer than 16 MiB"),
        (extent.without_time, "event has no time", "events have no time"),
        (extent.repeated, "event repeats another", "events repeat others"),
        (extent.late, "event came too late to be put in order", "events came too late to be put in order"),
        (extent.given_up, "request was given up, as too many were open", "requests were given up, as too many were open"),
    ];
    notes.extend(
        left_out.into_iter().filter(|(number, ..)| *number > 0).map(|(number, one, several)| counted_as(number, one, several)),
    );
    notes
}

/// `audit log, level Metadata, stages ResponseStarted, ResponseComplete, from … until …: 7 requests`.
fn shown(extent: &LogExtent) -> String {
    let levels: Vec<&str> = extent.levels.iter().map(|level| level_name(*level)).collect();
    let stages: Vec<&str> = extent.stages.iter().map(|stage| stage_name(*stage)).collect();
    let span = match (extent.from, extent.until) {
        (Some(from), Some(until)) => format!(", from {from} until {until}"),
        (_, _) => String::new(),
    };
    let requests = counted(extent.requests, "request");
    format!("audit log, level {}, stages {}{span}: {requests}", levels.join(", "), stages.join(", "))
}

const fn level_name(level: AuditLevel) -> &'static str {
    match level {
        AuditLevel::Metadata => "Metadata",
        AuditLevel::Request => "Request",
        AuditLevel::RequestResponse => "RequestResponse",
        AuditLevel::Unknown => "unknown",
    }
}

const fn stage_name(stage: AuditStage) -> &'static str {
    match stage {
        AuditStage::RequestReceived => "RequestReceived",
        AuditStage::ResponseStarted => "ResponseStarted",
        AuditStage::ResponseComplete => "ResponseComplete",
        AuditStage::Panic => "Panic",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn captures_and_missing_files_are_no_logs() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            path
        };
        let capture = file("capture", &[MAGIC.as_slice(), b"rest"].concat());
        let (empty, missing) = (file("empty", b""), folder.path().join("missing"));
        let log = file("audit.log", b"{}\n");
        assert!(!are_logs(&[capture.clone(), empty, missing]));
        assert!(are_logs(&[capture, log]) && are_logs(&[PathBuf::from("-")]));
    }
}
