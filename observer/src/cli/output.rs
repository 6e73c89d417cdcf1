//! Destinations of text, and the form of a failure.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};

use crate::printable::{Printer, print_message, stdout};
use crate::private_file;
use crate::view::EventLines;

/// The writer of `--events`.
pub(super) type Events = EventLines<Box<dyn Write + Send>>;

/// The format of an explanation or a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Human-readable text.
    #[default]
    Text,
    /// One JSON object, with a schema name in it.
    Json,
}

/// The format of a report or a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ReportFormat {
    /// Human-readable text.
    #[default]
    Text,
    /// One JSON object, with a schema name in it.
    Json,
    /// At most 60 lines for a comment on a pull request: the result first, then tables.
    Markdown,
}

/// The exit code of a command that only prints. A reader that stops early, such as head(1), is no failure; a full disk is one.
pub(super) fn printed(written: io::Result<()>) -> ExitCode {
    match written {
        Err(error) if !is_closed_pipe(&error) => {
            print_message(format_args!("cannot write to stdout: {error}"));
            ExitCode::FAILURE
        }
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}

/// Whether the reader of stdout stopped early, which is no failure of a command that only prints.
pub(super) fn is_of_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(is_closed_pipe)
}

/// The reader of stdout may stop early, as head(1) does.
pub(super) fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
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

/// Creates a new text file in the current folder that only its owner can read, under a name that is not taken.
pub(super) fn create_numbered(stem: &str, extension: &str) -> Result<(PathBuf, Printer<File>)> {
    let (path, file) = private_file::create_numbered(Path::new(""), stem, extension)
        .map_err(|error| anyhow!("cannot create {stem}.{extension} in the current folder: {error}"))?;
    Ok((path, Printer::to(file)))
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
