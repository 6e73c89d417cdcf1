//! Where and in which format figures are written.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::document;

/// Flags of all benches.
#[derive(Debug, clap::Args)]
pub(crate) struct Output {
    /// Format of the figures
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Page in which these figures replace the tables between their markers
    #[arg(long, value_name = "FILE")]
    write_docs: Option<PathBuf>,

    /// Tiny amounts and one round: shows that the bench runs, and measures nothing
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
    /// Prints figures, and writes them into the page under `name`.
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
