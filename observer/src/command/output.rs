//! Destinations of text, and the form of a failure.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};

use crate::error_chain;
use crate::printable::{Printable, Printer, stdout};
use crate::private_file;
use crate::terminal::Stderr;
use crate::view::EventLines;

/// The writer of `--events`.
pub(super) type Events = EventLines<Box<dyn Write + Send>>;

/// The format of a report or an explanation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object, with a schema name in it.
    Json,
}

/// Writes a paragraph to stderr that begins with our name. If stderr is closed, there is nowhere to report that.
pub(super) fn say(line: impl Display) {
    let _written = Stderr::print(&Printable::paragraph(format_args!("watchtap: {line}")));
}

/// Writes an error and its causes to stderr, on one line.
pub(super) fn say_error(error: &anyhow::Error) {
    say(in_words(error));
}

/// The exit code of a command that only prints. A reader that stops early, such as head(1), is no failure; a full disk is one.
pub(super) fn printed(written: io::Result<()>) -> ExitCode {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            say(format_args!("cannot write to stdout: {error}"));
            ExitCode::FAILURE
        }
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}

/// An error and its causes, on one line.
pub(super) fn in_words(error: &anyhow::Error) -> String {
    error_chain::in_words(error.as_ref())
}

impl From<Format> for crate::view::ExplainFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
        }
    }
}

/// Creates a text file that only its owner can read.
pub(super) fn create(path: &Path) -> Result<Printer<File>> {
    private_file::create(path).map(Printer::to).map_err(|error| anyhow!("cannot write {}: {error}", path.display()))
}

/// Opens the output of `--events`: a file, or stdout for `-`.
pub(super) fn events_to(path: &Path) -> Result<Events> {
    let out = if is_stdout(path) { stdout().buffered().boxed() } else { create(path)?.buffered().boxed() };
    EventLines::begin(out).context("cannot write events")
}

/// Whether the path is `-`.
pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}
