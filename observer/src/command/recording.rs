//! What a run leaves behind: flags, files, and the report at its end.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use observer_core::observer::Snapshot;

use super::capture_flags::CaptureFlags;
use super::output::{Format, create, events_to, is_stdout};
use crate::observing::Outputs;
use crate::view::{Colour, EventSink, Run, report_json, report_text};

/// Where the report, the events and the capture go.
#[derive(Clone, Debug, Args)]
pub(super) struct Recording {
    /// Write the report to a file instead of stderr
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// How to write it
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Write what happens as JSON lines to a file, or to stdout for - (docs/events.md)
    #[arg(long, value_name = "FILE|-")]
    events: Option<PathBuf>,

    #[command(flatten)]
    capture: CaptureFlags,
}

/// The report, to be written at the end.
#[derive(Debug)]
pub(super) struct Report {
    file: Option<File>,
    format: Format,
}

impl Recording {
    /// Opens the files, so that one that cannot be written is known before anything runs.
    pub(super) fn open(&self) -> Result<(Report, Outputs)> {
        let file = self.report.as_deref().map(create).transpose()?;
        let events = self.events.as_deref().map(events_to).transpose()?;
        let sinks = events.into_iter().map(|lines| Box::new(lines) as Box<dyn EventSink>).collect();
        Ok((Report { file, format: self.format }, Outputs::new(sinks, self.capture.create()?)))
    }

    /// Whether stdout belongs to a program that reads JSON lines.
    pub(super) fn takes_stdout(&self) -> bool {
        self.events.as_deref().is_some_and(is_stdout)
    }
}

impl Report {
    /// Writes it: to its file, else to stderr.
    pub(super) fn write(self, run: &Run, snapshot: &Snapshot) -> Result<()> {
        let colour = match &self.file {
            Some(_) => Colour::Off,
            None => Colour::for_stream(&io::stderr(), std::env::var_os("NO_COLOR").as_deref()),
        };
        let text = match self.format {
            Format::Text => report_text(run, snapshot, colour),
            Format::Json => report_json(run, snapshot)?,
        };
        match self.file {
            Some(mut file) => file.write_all(text.as_bytes()).context("cannot write the report"),
            None => io::stderr().lock().write_all(text.as_bytes()).context("cannot write the report to stderr"),
        }
    }
}
