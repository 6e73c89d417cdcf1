//! The output of a run: flags, files, and the report at its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anyhow::{Result, anyhow};
use clap::Args;
use observer_core::observer::Snapshot;
use observer_core::series::TapWord;

use super::flags::{CaptureFlags, Otherwise, OtlpFlags, Report, ReportFlags};
use super::output::ReportFormat;
use super::same_file;
use crate::injected_fault::{self, Component};
use crate::memory_budget::MemoryBudget;
use crate::metrics::MetricsReader;
use crate::pipeline::{EventSink, Outputs};
use crate::printable::Printable;
use crate::view::{Run, report_json, report_markdown, report_text};

/// Files that other flags name, each with its flag.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside<'f> {
    pub read: Option<(&'static str, &'f Path)>,
    pub written: Option<(&'static str, &'f Path)>,
    pub output: Option<(&'static str, &'f Path)>,
}

/// Destinations of the report, the events and the capture, and of exports.
#[derive(Clone, Debug, Args)]
pub(super) struct Recording {
    #[command(flatten)]
    report: ReportFlags,

    #[command(flatten)]
    capture: CaptureFlags,

    #[command(flatten)]
    otlp: OtlpFlags,
}

impl Recording {
    /// Opens the files now, so that one that cannot be written fails before anything runs. `tap` is the source of the run's data;
    /// without `--report`, the report goes to `otherwise`.
    pub(super) fn open(
        &self,
        tap: TapWord,
        otherwise: Otherwise,
        beside: Beside<'_>,
        memory: &MemoryBudget,
    ) -> Result<(Report, Outputs)> {
        let captures = self.capture.files();
        let captures = captures.iter().map(|file| ("--capture", file.as_path()));
        same_file::check(beside.read.into_iter(), self.report.files().chain(captures).chain(beside.written).chain(beside.output))?;
        let (report, events) = self.report.open(otherwise)?;
        let sinks = events.into_iter().map(|lines| Box::new(lines) as Box<dyn EventSink>);
        let mut outputs = Outputs::new(sinks.collect(), self.capture.create()?);
        if let Some(otlp) = self.otlp.start(|| MetricsReader::new(outputs.series(report.mute()), tap), memory)? {
            outputs.add(Box::new(otlp));
        }
        Ok((report, outputs))
    }

    /// Whether events go to stdout.
    pub(super) fn events_take_stdout(&self) -> bool {
        self.report.takes_stdout()
    }

    /// The format that the flags give the report.
    #[cfg(all(target_os = "linux", feature = "ebpf"))]
    pub(super) const fn format(&self) -> ReportFormat {
        self.report.format()
    }

    /// Whether stdout is used by the report, or by a program that reads JSON lines.
    pub(super) fn takes_stdout(&self) -> bool {
        self.report.stdout_is_taken()
    }
}

/// Writes the report of a finished run.
pub(super) fn write(report: Report, run: &Run, snapshot: &Snapshot) -> Result<()> {
    let text = catch_unwind(AssertUnwindSafe(|| text(&report, run, snapshot)));
    let text =
        text.map_err(|_panic| anyhow!("the report could not be created because of an internal error; please report it"))??;
    report.write(&text)
}

fn text(report: &Report, run: &Run, snapshot: &Snapshot) -> Result<Printable> {
    injected_fault::inject(Component::Report, snapshot);
    Ok(match report.format() {
        ReportFormat::Text => report_text(run, snapshot, report.colour()),
        ReportFormat::Json => report_json(run, snapshot)?,
        ReportFormat::Markdown => report_markdown(run, snapshot),
    })
}
