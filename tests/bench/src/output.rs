//! Prints the results of a bench, and writes them into a document.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::document;

/// Flags of all benches.
#[derive(Debug, clap::Args)]
pub(crate) struct Output {
    /// Format of the results
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Document in which these results replace the text between the bench's markers
    #[arg(long, value_name = "FILE")]
    write_docs: Option<PathBuf>,

    /// Use tiny amounts and one round, only to check that the bench runs
    #[arg(long, conflicts_with = "write_docs")]
    pub(crate) smoke: bool,
}

#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Format {
    /// Tables as text
    #[default]
    Text,
    /// One JSON object per bench, with all summaries
    Json,
}

impl Output {
    /// Prints the results, and writes them into the document at the markers with this `name`.
    pub(crate) fn write(&self, name: &str, report: &impl Serialize, markdown: &str) -> Result<()> {
        if let Some(page) = &self.write_docs {
            document::write(page, name, markdown)?;
        }
        let text = match self.format {
            Format::Text => markdown.to_owned(),
            Format::Json => serde_json::to_string(report)?,
        };
        writeln!(io::stdout(), "{text}").context("cannot write to stdout")
    }

    /// Prints progress on stderr; ignores a closed stderr.
    #[expect(clippy::unused_self, reason = "what is told beside the figures belongs to them")]
    pub(crate) fn progress(&self, line: &str) {
        writeln!(io::stderr(), "{line}").ok();
    }
}
