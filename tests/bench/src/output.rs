//! Where figures go, and how.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::document;

/// Flags that all benches have.
#[derive(Debug, clap::Args)]
pub(crate) struct Output {
    /// How figures are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// The page whose tables these figures replace, between its markers
    #[arg(long, value_name = "FILE")]
    write_docs: Option<PathBuf>,

    /// Tiny amounts and one round: shows that the bench runs, and measures nothing
    #[arg(long, conflicts_with = "write_docs")]
    pub(crate) smoke: bool,
}

#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Format {
    /// Tables for people
    #[default]
    Text,
    /// One JSON object a bench, with all summaries
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

    /// Tells whoever waits how far it is; a closed stderr leaves nobody to tell.
    #[expect(clippy::unused_self, reason = "what is told beside the figures belongs to them")]
    pub(crate) fn progress(&self, line: &str) {
        writeln!(io::stderr(), "{line}").ok();
    }
}
