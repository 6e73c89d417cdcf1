//! Where text goes, and what a failure looks like.

use std::fmt::Display;
use std::io::{self, Write};

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
    let _written = writeln!(io::stderr().lock(), "watchtap: {line}");
}

/// Writes an error and its causes to stderr, one line.
pub(super) fn say_error(error: &anyhow::Error) {
    say(format!("{error:#}"));
}

impl From<Format> for crate::view::ExplainFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
        }
    }
}
