//! `watchtap read`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use observer_core::capture::{Lost, LostReason};
use observer_core::logs::{LogExtent, LogReplay};
use observer_core::observation::{Observation, RunObservation, Subject, UpstreamName, UpstreamObservation};
use observer_core::observer::{Comparison, Limits, Missed, Observer, Snapshot};
use observer_core::routing::ServerProfile;
use observer_core::series::TapWord;

use super::flags::{ByteSize, LogZoneFlags, MetricsFlags, Otherwise, ProfileFlags, Report, ReportFlags};
use super::output::{Events, ReportFormat};
use super::read_beside::Beside;
use super::read_follow;
use super::read_logs::{self, Inputs, ReadProgress, WaitForLine};
use super::same_file;
use crate::capture::{Due, Pace, Recording};
use crate::input_file::is_stdin;
use crate::log_files::{LogFiles, LogZone};
use crate::memory_budget::MemoryBudget;
use crate::pipeline::{EventSink, SeriesReader, SeriesSource};
use crate::printable::{Printable, print_error, print_message};
use crate::session::DescriptorLimit;
use crate::signals::Interrupt;
use crate::view::{
    Run, RunLog, comparison_json, comparison_markdown, comparison_text, count, log_lines, log_notes, report_json, report_markdown,
    report_text,
};

/// Default of `--max-memory` for captures. A capture may come from an attacker: a few kilobytes of it can name millions of things.
const OF_CAPTURES: ByteSize = ByteSize(16 << 20);
/// Default of `--max-memory` for logs. An API server has the open watches of all clients of a cluster.
const OF_LOGS: ByteSize = ByteSize(96 << 20);
/// Exit code if a part of the capture was lost; the report lists the losses.
pub(super) const INCOMPLETE: u8 = 3;

/// Reads a capture or logs of API servers, and prints the report of that time, or compares two runs.
///
/// The files of one capture (FILE, FILE.1, …) may be given in any order and give one report. A capture may be incomplete: the
/// writer was killed, bytes are damaged, or a file is missing. The report lists these losses with their times; everything else is
/// read. The report goes to stdout.
///
/// Audit logs of kube-apiserver are read, too: as the server writes them, in the envelopes of clouds and container runtimes, packed by
/// gzip, and from stdin (-). Give the logs of all API servers of a cluster together. A log has no bodies, bytes or connections, so the report has
/// none. With --server-version, it predicts the layer that answered.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap exec --capture run.cap -- ./my-controller
  watchtap read run.cap
  watchtap read run.cap run.cap.1 run.cap.2 --format json

  # The events, at their original pace:
  watchtap read run.cap --events - --speed 1 --report /dev/null

  # What a fix changed, the worst change first; then the same as a comment on a pull request:
  watchtap read after.cap --against before.cap
  watchtap read after.cap --against before.cap --format markdown

  # A capture beside the audit log of the API server:
  watchtap read run.cap --audit-log audit.log

  # The log of an API server as it grows, on the page; Ctrl-C ends it with a report:
  watchtap read --follow /var/log/kubernetes/audit/audit.log --server-version 1.34.2

  # The audit logs of both API servers of a cluster of version 1.34.2:
  watchtap read audit-a.log audit-b.log.gz --server-version 1.34.2

EXIT CODES:
  0  everything was read
  1  nothing could be read, or the report could not be written
  2  usage error
  3  parts of the capture are missing; or a log was read only in part (also after Ctrl-C), or lines of it were not understood, or came too late to be
     put in order, or had no room in --max-memory; or --events could not be written")]
pub(super) struct Read {
    /// The files of one capture, or logs; - is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Keep reading logs as they grow, also after they are rotated by renaming or truncating. A terminal shows the page; Ctrl-C ends it with
    /// the report
    #[arg(long, conflicts_with_all = ["against", "speed"])]
    follow: bool,

    /// Compare with the earlier run in this capture; repeat the flag if that capture has several files
    #[arg(long, value_name = "FILE", conflicts_with_all = ["events", "speed"])]
    against: Vec<PathBuf>,

    /// Join the requests of a capture with those in this log of the API server, by audit ID: it has the user, the time in the API server, and proofs
    /// of the layer. Repeat the flag for several logs of the same time; - is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["against", "follow"])]
    audit_log: Vec<PathBuf>,

    /// Replay a capture at this speed instead of as fast as possible: 1 is the original speed, 10 is ten times faster. Logs are always
    /// read as fast as possible
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    speed: Option<f64>,

    /// Approximate memory limit for requests, reflectors and the versions of their objects; the report counts what was dropped. Live
    /// runs use 1GiB. With less, the report of a large capture may lack data that the live report had [default: 16MiB; for logs 96MiB]
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<ByteSize>,

    #[command(flatten)]
    report: ReportFlags,

    #[command(flatten)]
    metrics: MetricsFlags,

    #[command(flatten, next_help_heading = "Logs")]
    zone: LogZoneFlags,

    #[command(flatten, next_help_heading = "Logs")]
    profile: ProfileFlags,
}

impl Read {
    pub(super) fn run(&self) -> ExitCode {
        match self.execute() {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::from(INCOMPLETE),
            Err(error) => {
                print_error(&error);
                ExitCode::FAILURE
            }
        }
    }

    /// Whether the captures were complete.
    fn execute(&self) -> Result<bool> {
        let files = self.files.iter().chain(&self.against).chain(&self.audit_log).filter(|file| !is_stdin(file));
        let captures = files.map(|file| ("capture", file.as_path()));
        same_file::check(captures, self.report.files())?;
        let (report, mut events) = self.report.open(Otherwise::Stdout)?;
        // All logs are open at once.
        let _raised = DescriptorLimit::raise();
        let pace = self.speed.map_or(Pace::AtOnce, Pace::Times);
        let (reader, mut source) = SeriesReader::begin(report.mute());
        let metrics = self.metrics.serve(|| reader, TapWord::Replay, &MemoryBudget::default())?;
        if let Some(metrics) = &metrics {
            metrics.note_started();
        }
        let mut interrupt = None;
        let mut after = if self.follow {
            self.followed(&report, &mut events, &mut source)?
        } else {
            self.replayed(&self.files, pace, &mut interrupt, &mut events, &mut source)?
        };
        after.snapshot = after.snapshot.without_findings(report.mute());
        if self.against.is_empty() {
            drop(interrupt);
            let text = self.report_of(&after, &report)?;
            report.write(&text)?;
            return Ok(after.is_complete);
        }
        // The metrics are those of the first replay, and end with it.
        drop(source);
        if interrupt.as_ref().is_some_and(Interrupt::is_noted) {
            bail!("interrupted: {} was not read, so there is no comparison", names(&self.against));
        }
        let mut before = self.replayed(&self.against, Pace::AtOnce, &mut interrupt, &mut None, &mut SeriesReader::begin(&[]).1)?;
        drop(interrupt);
        before.snapshot = before.snapshot.without_findings(report.mute());
        let text = self.comparison_of(&before, &after, &report)?;
        report.write(&text)?;
        Ok(after.is_complete && before.is_complete)
    }

    fn followed(&self, report: &Report, events: &mut Option<Events>, series: &mut SeriesSource) -> Result<Replayed> {
        let with_page = !self.report.stdout_is_taken();
        let replaying = Replaying { is_followed: true, ..Replaying::new(self.limits(OF_LOGS), Pace::AtOnce, events, series) };
        let profile = self.profile.overrides().over(ServerProfile::default());
        read_follow::follow(replaying, &self.files, self.zone, profile, with_page.then(|| report.mute()))
    }

    /// Replays captures or logs. `interrupt` is set once logs are read, which Ctrl-C ends with the report.
    fn replayed(
        &self,
        files: &[PathBuf],
        pace: Pace,
        interrupt: &mut Option<Interrupt>,
        events: &mut Option<Events>,
        series: &mut SeriesSource,
    ) -> Result<Replayed> {
        let inputs = Inputs::open(files)?;
        let memory = if matches!(inputs, Inputs::Capture(_)) { OF_CAPTURES } else { OF_LOGS };
        let replaying = Replaying::new(self.limits(memory), pace, events, series);
        match inputs {
            Inputs::Capture(recording) if !self.audit_log.is_empty() => {
                replaying.beside(recording, Beside::open(&self.audit_log, self.zone.zone())?, self.zone.zone())
            }
            Inputs::Capture(recording) => match self.zone.given() {
                Some(flag) => bail!("{}: {flag} is for logs, and a capture has complete times: leave it out", names(files)),
                None => replaying.capture(recording),
            },
            Inputs::Logs(_) if !self.audit_log.is_empty() => {
                bail!("{}: --audit-log is for captures, and this is a log: give all logs without the flag", names(files))
            }
            Inputs::Logs(_) if self.speed.is_some() => {
                bail!("{}: --speed is for captures, and logs are read as fast as possible: leave it out", names(files))
            }
            Inputs::Logs(logs) => {
                let logs = LogFiles::of(logs, self.zone.zone());
                let interrupt = match interrupt {
                    Some(listening) => listening,
                    None => interrupt.insert(Interrupt::listen().context("cannot listen for signals")?),
                };
                replaying.logs(logs, files, self.profile.overrides().over(ServerProfile::default()), interrupt)
            }
        }
    }

    /// Without a flag, those within `memory`.
    fn limits(&self, memory: ByteSize) -> Limits {
        let ByteSize(bytes) = self.max_memory.unwrap_or(memory);
        Limits::default().within(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    fn report_of(&self, replayed: &Replayed, report: &Report) -> Result<Printable> {
        let run = Run {
            subcommand: "read",
            command: Run::shown(self.files.iter().map(|file| file.to_string_lossy())),
            exit_code: None,
            silence: vec!["No request was recorded.".to_owned()],
            budget: None,
            log: replayed.log.clone().map(|extent| RunLog { extent, zone: self.zone.zone() }),
            notes: replayed.notes.clone(),
        };
        Ok(match report.format() {
            ReportFormat::Text => report_text(&run, &replayed.snapshot, report.colour()),
            ReportFormat::Json => report_json(&run, &replayed.snapshot)?,
            ReportFormat::Markdown => report_markdown(&run, &replayed.snapshot),
        })
    }

    fn comparison_of(&self, before: &Replayed, after: &Replayed, report: &Report) -> Result<Printable> {
        let comparison = Comparison::of(&before.snapshot, &after.snapshot);
        let names = [&self.against, &self.files].map(|files| names(files));
        let names = names.each_ref().map(String::as_str);
        let lines = |of: &Replayed| of.log_lines(self.zone.zone());
        let notes = [lines(before), before.notes.clone(), lines(after), after.notes.clone()].concat();
        Ok(match report.format() {
            ReportFormat::Text => comparison_text(names, &notes, &comparison, report.colour()),
            ReportFormat::Json => comparison_json(names, &notes, &comparison)?,
            ReportFormat::Markdown => comparison_markdown(names, &notes, &comparison),
        })
    }
}

/// The result of replaying a capture or logs.
pub(super) struct Replayed {
    snapshot: Snapshot,
    is_complete: bool,
    /// The extent of the logs; `None` for a capture.
    log: Option<LogExtent>,
    notes: Vec<String>,
}

impl Replayed {
    /// The lines about the logs in a comparison.
    fn log_lines(&self, zone: LogZone) -> Vec<String> {
        let log = self.log.clone().map(|extent| RunLog { extent, zone });
        log.map_or_else(Vec::new, |log| log_lines(&log, &self.snapshot))
    }
}

/// A replay under way.
pub(super) struct Replaying<'o> {
    pub(super) observer: Observer,
    limits: Limits,
    pace: Pace,
    events: &'o mut Option<Events>,
    series: &'o mut SeriesSource,
    /// Whether the logs still grow, so that events are written at once.
    is_followed: bool,
    notes: Vec<String>,
    /// Whether events could not be written, although they are still wanted.
    are_events_lost: bool,
}

impl<'o> Replaying<'o> {
    fn new(limits: Limits, pace: Pace, events: &'o mut Option<Events>, series: &'o mut SeriesSource) -> Self {
        let observer = Observer::new(limits);
        let observer = if events.is_some() { observer } else { observer.without_request_events() };
        Self { observer, limits, pace, events, series, is_followed: false, notes: Vec::new(), are_events_lost: false }
    }

    fn capture(mut self, recording: Recording) -> Result<Replayed> {
        let lost = recording.replay(self.pace, &mut |Due { after, observation }| self.observe(after, observation))?;
        for (file, lost) in &lost {
            print_message(in_words(file, lost));
        }
        Ok(self.end(lost.is_empty(), None))
    }

    /// Replays a capture beside the logs of the same time.
    fn beside(mut self, recording: Recording, mut beside: Beside, zone: LogZone) -> Result<Replayed> {
        let lost = recording.replay(self.pace, &mut |Due { after, observation }| {
            let mut after = Some(after);
            beside.observe(observation, &mut |one| self.observe(after.take().unwrap_or_default(), one));
        })?;
        for (file, lost) in &lost {
            print_message(in_words(file, lost));
        }
        let extent = beside.finish(&mut |one| self.observe(Duration::ZERO, one))?;
        self.note_missed(extent.missed());
        self.notes.extend(log_notes(&RunLog { extent: extent.clone(), zone }));
        Ok(self.end(lost.is_empty() && extent.is_complete(), None))
    }

    fn logs(mut self, logs: LogFiles, files: &[PathBuf], profile: ServerProfile, interrupt: &Interrupt) -> Result<Replayed> {
        let replay = profile.version.iter().fold(LogReplay::default(), LogReplay::with_version);
        let mut progress = ReadProgress::of(logs.bytes());
        let mut waiting = WaitForLine::default();
        let mut profile = Some(Box::new(profile));
        let mut each = |batch: Vec<Observation>, bytes| {
            progress.note(bytes);
            waiting.note(interrupt);
            if let Some((first, profile)) = batch.first().and_then(|first| Some((first, profile.take()?))) {
                let subject = Subject::Upstream(UpstreamName::default(), UpstreamObservation::Profile { profile });
                self.pass(Observation { at: first.at, subject });
            }
            for observation in batch {
                self.pass(observation);
            }
            self.answer_metrics();
        };
        let (extent, failed) = logs.replay_ahead(replay, interrupt.noted(), &mut each)?;
        progress.end();
        let is_interrupted = interrupt.is_noted();
        if is_interrupted {
            self.notes.push(format!("interrupted: the rest of {} was not read", names(files)));
        }
        let is_complete = read_logs::is_complete(files, &extent, &failed)?;
        failed.iter().for_each(read_logs::warn_of);
        Ok(self.end(is_complete && !is_interrupted, Some(extent)))
    }

    /// Answers readers of metrics while nothing is observed.
    pub(super) fn answer_metrics(&mut self) {
        self.series.answer_for(Duration::ZERO, &self.observer);
    }

    pub(super) fn observe(&mut self, after: Duration, observation: Observation) {
        self.series.answer_for(after, &self.observer);
        self.pass(observation);
    }

    fn pass(&mut self, observation: Observation) {
        let mut written = Ok(());
        self.observer.observe(observation, &mut |event| {
            if let (Some(lines), Ok(())) = (self.events.as_mut(), &written) {
                written = lines.event(&event);
            }
        });
        let is_live = self.is_followed || matches!(self.pace, Pace::Times(_));
        if let (Some(lines), true, Ok(())) = (self.events.as_mut(), is_live, &written) {
            written = lines.flush();
        }
        self.give_up(written);
    }

    /// Notes the parts of the logs that the observations lack so far.
    pub(super) fn note_missed(&mut self, missed: RunObservation) {
        self.pass(Observation { at: self.observer.now(), subject: Subject::Run(missed) });
    }

    pub(super) fn end(mut self, is_complete: bool, log: Option<LogExtent>) -> Replayed {
        if let Some(extent) = &log {
            self.note_missed(extent.missed());
        }
        let flushed = self.events.as_mut().map_or(Ok(()), Events::flush);
        self.give_up(flushed);
        let snapshot = self.observer.snapshot();
        let without_room = without_room(&snapshot, &self.limits, log.is_some());
        // A capture has what the live run had room for, too.
        let had_room = log.is_none() || without_room.is_none();
        self.notes.extend(without_room);
        let is_complete = is_complete && had_room && !self.are_events_lost;
        Replayed { snapshot, is_complete, log, notes: self.notes }
    }

    /// If the reader of events has gone or the disk is full, events end and reading continues.
    fn give_up(&mut self, written: io::Result<()>) {
        let Err(error) = written else { return };
        *self.events = None;
        let note = format!("stopped writing --events: {error}; reading continues");
        if error.kind() != io::ErrorKind::BrokenPipe {
            print_message(format_args!("{note}"));
            self.are_events_lost = true;
        }
        self.notes.push(note);
    }
}

/// The amount of data dropped for lack of memory, and the remedy. It leaves out tables with too many rows, since memory does not
/// help there.
fn without_room(snapshot: &Snapshot, limits: &Limits, is_log: bool) -> Option<String> {
    let source = if is_log { "the logs exceed" } else { "the capture exceeds" };
    let Missed { exchanges_dropped, records_dropped, connections_forgotten, reflectors, .. } = &snapshot.missed;
    let records = if snapshot.requests.len() < limits.records { *records_dropped } else { 0 };
    let counts = [
        (*exchanges_dropped, "requests were not followed"),
        (records, "requests are not listed individually"),
        (*connections_forgotten, "connections were forgotten"),
        (reflectors.forgotten, "reflectors were forgotten"),
        (reflectors.requests, "requests could not be attributed to a reflector"),
        (reflectors.thinned, "times versions of objects were sampled"),
    ];
    let missing: Vec<String> =
        counts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{} {what}", count(*number))).collect();
    (!missing.is_empty() && *limits != Limits::default())
        .then(|| format!("{source} --max-memory: {}; a larger one may have room (a live run has 1GiB)", missing.join(", ")))
}

/// `run.cap: at byte 4096: 120 bytes damaged; 12 observations are missing, from … until …`.
fn in_words(file: &Path, lost: &Lost) -> String {
    let bytes = if lost.bytes > 0 { format!("{} bytes: ", lost.bytes) } else { String::new() };
    let place = match lost.reason {
        LostReason::NoEarlierPart => String::new(),
        LostReason::Damaged
        | LostReason::OutOfBounds
        | LostReason::Missing
        | LostReason::Torn
        | LostReason::Trailing
        | LostReason::NoLaterPart => {
            format!("at byte {}: ", lost.offset)
        }
    };
    let missing = match lost.observations {
        Some(0) => return format!("{}: {place}{bytes}{}; no recorded observation is missing", file.display(), lost.reason),
        Some(1) => "1 observation is missing".to_owned(),
        Some(number) => format!("{number} observations are missing"),
        None => "an unknown number of observations is missing".to_owned(),
    };
    let from = lost.from.map_or_else(String::new, |time| format!(", from {time}"));
    let until = lost.until.map_or_else(String::new, |time| format!(" until {time}"));
    format!("{}: {place}{bytes}{}; {missing}{from}{until}", file.display(), lost.reason)
}

fn names(files: &[PathBuf]) -> String {
    Run::shown(files.iter().map(|file| file.to_string_lossy())).join(" ")
}

/// Parses a number above 0.
fn factor(text: &str) -> Result<f64> {
    let factor: f64 = text.parse().context("a speed is a number, such as 1 or 0.5")?;
    anyhow::ensure!(factor.is_finite() && factor > 0.0, "a speed is above 0");
    Ok(factor)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[derive(Debug, clap::Parser)]
    struct CommandLine {
        #[command(flatten)]
        read: Read,
    }

    #[test]
    fn capture_is_never_overwritten_by_its_outputs() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (capture, other, alias, missing) = (path("run.cap"), path("other.cap"), path("alias"), path("missing"));
        for file in [&capture, &other] {
            fs::write(file, "recorded").unwrap();
        }
        fs::hard_link(&capture, &alias).unwrap();
        for (arguments, said) in [
            (&[&*capture, "--report", &*capture][..], "would overwrite"),
            (&[&*capture, "--events", &*capture], "would overwrite"),
            (&[&*capture, "--report", &*alias], "would overwrite"),
            (&[&*capture, "--against", &*other, "--report", &*other], "would overwrite"),
            (&[&*missing, "--report", &*other], "cannot read"),
        ] {
            let line = <CommandLine as clap::Parser>::try_parse_from([&["read"], arguments].concat()).unwrap();
            let error = line.read.execute().unwrap_err().to_string();
            assert!(error.contains(said), "{arguments:?}: {error}");
            for file in [&capture, &other] {
                assert_eq!(fs::read_to_string(file).unwrap(), "recorded", "{arguments:?}");
            }
        }
    }
}
