//! Where text goes, and what a failure looks like.

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

/// Where events are written to.
pub(super) type Events = EventLines<Box<dyn Write + Send>>;

/// How a report or an explanation is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object, with a schema name in it.
    Json,
}

/// Writes a paragraph to stderr that begins with our name. A closed stderr leaves nobody to tell.
pub(super) fn say(line: impl Display) {
    let _written = Stderr::print(&Printable::paragraph(format_args!("watchtap: {line}")));
}

/// Writes an error and its causes to stderr, one line.
pub(super) fn say_error(error: &anyhow::Error) {
    say(in_words(error));
}

/// The end of a command that only prints. A reader that has enough, as head(1), is no failure; a disk that is full is one.
pub(super) fn printed(written: io::Result<()>) -> ExitCode {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            say(format_args!("cannot write to stdout: {error}"));
            ExitCode::FAILURE
        }
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}

/// An error and its causes, one line.
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

/// Opens a file of text for writing, readable for its owner only.
pub(super) fn create(path: &Path) -> Result<Printer<File>> {
    private_file::create(path).map(Printer::to).map_err(|error| anyhow!("cannot write {}: {error}", path.display()))
}

/// The lines of `--events`: to a file, or to stdout for `-`.
pub(super) fn events_to(path: &Path) -> Result<Events> {
    let out = if is_stdout(path) { stdout().buffered().boxed() } else { create(path)?.buffered().boxed() };
    EventLines::begin(out).context("cannot write events")
}

/// Whether a path stands for standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}
