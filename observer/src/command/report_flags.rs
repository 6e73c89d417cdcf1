//! Flags of every command that observes or replays: where the report and the events go.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use super::output::{Events, Format, create, events_to, is_stdout};
use crate::printable::{Printable, Printer, stderr, stdout};
use crate::view::Colour;

/// Where the report and the events go, and how the report is written.
#[derive(Clone, Debug, Args)]
pub(super) struct ReportFlags {
    /// Write the report to a file, or to stdout for -
    #[arg(long, value_name = "FILE|-")]
    report: Option<PathBuf>,

    /// How to write it
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Write what happens as JSON lines to a file, or to stdout for - (docs/events.md)
    #[arg(long, value_name = "FILE|-")]
    events: Option<PathBuf>,

    /// Leave out the finding of this identifier, or all of a kind: `poller:` (may be given more than once)
    #[arg(long, value_name = "ID")]
    mute: Vec<String>,
}

/// Where a report goes when no flag says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Otherwise {
    /// Standard output belongs to somebody else: the command, live lines.
    Stderr,
    /// The report is what the command is for. Events take its place when they are asked for there.
    Stdout,
}

/// The place that is open for a report.
#[derive(Debug)]
pub(super) struct Report {
    place: Place,
    format: Format,
    mute: Vec<String>,
}

#[derive(Debug)]
enum Place {
    File(Printer<File>),
    Stdout,
    Stderr,
}

impl ReportFlags {
    /// Opens the files, so that one that cannot be written is known before anything is done.
    pub(super) fn open(&self, otherwise: Otherwise) -> Result<(Report, Option<Events>)> {
        let to_stdout = self.report.as_deref().is_some_and(is_stdout);
        anyhow::ensure!(!(to_stdout && self.takes_stdout()), "--report and --events cannot both go to stdout: name a file for one");
        let place = match &self.report {
            Some(_) if to_stdout => Place::Stdout,
            Some(path) => Place::File(create(path)?),
            None if otherwise == Otherwise::Stderr || self.takes_stdout() => Place::Stderr,
            None => Place::Stdout,
        };
        let events = self.events.as_deref().map(events_to).transpose()?;
        Ok((Report { place, format: self.format, mute: self.mute.clone() }, events))
    }

    /// The files that will be written, each with its flag.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let flags = [("--report", &self.report), ("--events", &self.events)];
        flags.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref().filter(|path| !is_stdout(path))?)))
    }

    /// How the report is wanted.
    #[cfg(all(target_os = "linux", feature = "ebpf"))]
    pub(super) const fn format(&self) -> Format {
        self.format
    }

    /// Whether stdout belongs to a program that reads JSON lines.
    pub(super) fn takes_stdout(&self) -> bool {
        self.events.as_deref().is_some_and(is_stdout)
    }

    /// Whether live lines have to leave stdout alone.
    pub(super) fn stdout_is_taken(&self) -> bool {
        self.takes_stdout() || self.report.as_deref().is_some_and(is_stdout)
    }
}

impl Report {
    /// Findings that are not wanted, by their identifiers.
    pub(super) fn mute(&self) -> &[String] {
        &self.mute
    }

    /// How it is wanted.
    pub(super) const fn format(&self) -> Format {
        self.format
    }

    /// Whether it may be coloured where it goes.
    pub(super) fn colour(&self) -> Colour {
        match self.place {
            Place::File(_) => Colour::Off,
            Place::Stdout => Colour::for_stdout(),
            Place::Stderr => Colour::for_stderr(),
        }
    }

    /// Writes it.
    pub(super) fn write(self, text: &Printable) -> Result<()> {
        match self.place {
            Place::File(file) => written(file, text),
            Place::Stdout => written(stdout(), text),
            Place::Stderr => written(stderr(), text),
        }
        .context("cannot write the report")
    }
}

/// All of it has left us, and no buffer: a disk that is full fails here, or nobody would hear of it.
fn written<W: Write>(mut to: Printer<W>, text: &Printable) -> io::Result<()> {
    to.print(text)?;
    to.flush()
}
