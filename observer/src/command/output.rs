//! Where text goes, and what a failure looks like.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow};

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

/// Writes a line to stderr that begins with our name. A closed stderr leaves nobody to tell.
pub(super) fn say(line: impl Display) {
    let _written = Stderr.write_all(format!("watchtap: {line}\n").as_bytes());
}

/// Writes an error and its causes to stderr, one line.
pub(super) fn say_error(error: &anyhow::Error) {
    say(in_words(error));
}

/// An error and its causes, but for those that it names itself in a sentence that goes on.
pub(super) fn in_words(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| match said.as_str() {
        "" => cause,
        said if said.contains(&cause) => said.to_owned(),
        said => format!("{said}: {cause}"),
    })
}

impl From<Format> for crate::view::ExplainFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
        }
    }
}

/// Opens a file for writing, readable for its owner only.
pub(super) fn create(path: &Path) -> Result<File> {
    private_file::create(path).map_err(|error| anyhow!("cannot write {}: {error}", path.display()))
}

/// The lines of `--events`: to a file, or to stdout for `-`.
pub(super) fn events_to(path: &Path) -> Result<Events> {
    let out: Box<dyn Write + Send> =
        if is_stdout(path) { Box::new(BufWriter::new(io::stdout())) } else { Box::new(BufWriter::new(create(path)?)) };
    EventLines::begin(out).context("cannot write events")
}

/// Whether a path stands for standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cause_is_named_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("no way to {place}: {source}; try another")]
        struct NoWay {
            place: &'static str,
            source: io::Error,
        }
        let source = || io::Error::other("the bridge is up");
        let error = anyhow::Error::from(NoWay { place: "town", source: source() }).context("no bread");
        assert_eq!(in_words(&error), "no bread: no way to town: the bridge is up; try another");
        assert_eq!(in_words(&anyhow::Error::from(source()).context("no way")), "no way: the bridge is up");
    }
}
