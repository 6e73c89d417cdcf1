//! What a run leaves behind: flags, files, and the report at its end.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use observer_core::observer::Snapshot;

use super::output::Format;
use crate::view::{Colour, EventLines, EventSink, Run, report_json, report_text};

/// Where the report and the events go.
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
}

/// The report, to be written at the end.
#[derive(Debug)]
pub(super) struct Report {
    file: Option<File>,
    format: Format,
}

impl Recording {
    /// Opens the files, so that one that cannot be written is known before anything runs.
    pub(super) fn open(&self) -> Result<(Report, Vec<Box<dyn EventSink>>)> {
        let file = self.report.as_deref().map(create).transpose()?;
        let events = self.events.as_deref().map(events_to).transpose()?;
        Ok((Report { file, format: self.format }, events.into_iter().collect()))
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

/// Opens a file for writing, readable for its owner only: names of objects can be sensitive.
fn create(path: &Path) -> Result<File> {
    let open = || {
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        // A file that was there keeps its mode otherwise; a device or a pipe has none that matters.
        if file.metadata()?.is_file() {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(file)
    };
    open().map_err(|error: io::Error| anyhow!("cannot write {}: {error}", path.display()))
}

/// The lines of `--events`: to a file, or to stdout for `-`.
fn events_to(path: &Path) -> Result<Box<dyn EventSink>> {
    let out: Box<dyn Write + Send> =
        if is_stdout(path) { Box::new(BufWriter::new(io::stdout())) } else { Box::new(BufWriter::new(create(path)?)) };
    Ok(Box::new(EventLines::begin(out).context("cannot write events")?))
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}
