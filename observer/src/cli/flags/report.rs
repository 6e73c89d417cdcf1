//! Flags for the report and the events, of every command that observes or replays.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::cli::output::{Events, ReportFormat, create, events_to, is_closed_pipe, is_stdout};
use crate::printable::{Printable, Printer, stderr, stdout};
use crate::view::Colour;

/// Destinations of the report and the events, and the format of the report.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportFlags {
    /// Write the report to a file, or to stdout for -
    #[arg(long, value_name = "FILE|-")]
    report: Option<PathBuf>,

    /// Report format
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,

    /// Write events as JSON lines to a file, or to stdout for - (docs/events.md)
    #[arg(long, value_name = "FILE|-")]
    events: Option<PathBuf>,

    /// Hide the finding with this ID, or, given `KIND:` such as `poller:`, all findings of that kind; may be given several times
    #[arg(long, value_name = "ID")]
    mute: Vec<String>,
}

/// The destination of a report without `--report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// Standard output is used by the command that runs, or by live lines.
    Stderr,
    /// The report is the purpose of the command. If events go to stdout, the report goes to stderr.
    Stdout,
}

/// An open destination for a report.
#[derive(Debug)]
pub(crate) struct Report {
    destination: Destination,
    format: ReportFormat,
    mute: Vec<String>,
}

#[derive(Debug)]
enum Destination {
    File(Printer<File>),
    Stdout,
    Stderr,
}

impl ReportFlags {
    /// Opens the files now, so that one that cannot be written fails before anything runs.
    pub(crate) fn open(&self, otherwise: Otherwise) -> Result<(Report, Option<Events>)> {
        let to_stdout = self.report.as_deref().is_some_and(is_stdout);
        anyhow::ensure!(!(to_stdout && self.takes_stdout()), "--report and --events cannot both go to stdout: name a file for one");
        let destination = match &self.report {
            Some(_) if to_stdout => Destination::Stdout,
            Some(path) => Destination::File(create(path)?),
            None if otherwise == Otherwise::Stderr || self.takes_stdout() => Destination::Stderr,
            None => Destination::Stdout,
        };
        let events = self.events.as_deref().map(events_to).transpose()?;
        Ok((Report { destination, format: self.format, mute: self.mute.clone() }, events))
    }

    /// The files that will be written, each with its flag.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let flags = [("--report", &self.report), ("--events", &self.events)];
        flags.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref().filter(|path| !is_stdout(path))?)))
    }

    /// The format that the flags give the report.
    #[cfg(all(target_os = "linux", feature = "ebpf"))]
    pub(crate) const fn format(&self) -> ReportFormat {
        self.format
    }

    /// Whether stdout is used by a program that reads JSON lines.
    pub(crate) fn takes_stdout(&self) -> bool {
        self.events.as_deref().is_some_and(is_stdout)
    }

    /// Whether live lines must not go to stdout.
    pub(crate) fn stdout_is_taken(&self) -> bool {
        self.takes_stdout() || self.report.as_deref().is_some_and(is_stdout)
    }
}

impl Report {
    /// A report to a file, to stdout for `-`, or to stdout without a path.
    pub(crate) fn to(path: Option<&Path>, format: ReportFormat) -> Result<Self> {
        let destination = match path.filter(|path| !is_stdout(path)) {
            Some(path) => Destination::File(create(path)?),
            None => Destination::Stdout,
        };
        Ok(Self { destination, format, mute: Vec::new() })
    }

    /// Identifiers of suppressed findings.
    pub(crate) fn mute(&self) -> &[String] {
        &self.mute
    }

    /// The format that the flags give it.
    pub(crate) const fn format(&self) -> ReportFormat {
        self.format
    }

    /// Whether its destination accepts colours; a file never does.
    pub(crate) fn colour(&self) -> Colour {
        match self.destination {
            Destination::File(_) => Colour::Off,
            Destination::Stdout => Colour::for_stdout(),
            Destination::Stderr => Colour::for_stderr(),
        }
    }

    /// Writes the text completely, or fails. A reader of stdout that stops early is no failure.
    pub(crate) fn write(self, text: &Printable) -> Result<()> {
        match self.destination {
            Destination::File(file) => written(file, text),
            Destination::Stdout => match written(stdout(), text) {
                Err(error) if is_closed_pipe(&error) => Ok(()),
                written => written,
            },
            Destination::Stderr => written(stderr(), text),
        }
        .context("cannot write the report")
    }
}

/// Flushes the writer too: otherwise an error such as a full disk would go unnoticed.
fn written<W: Write>(mut to: Printer<W>, text: &Printable) -> io::Result<()> {
    to.print(text)?;
    to.flush()
}
