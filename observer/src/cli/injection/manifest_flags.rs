//! Arguments of both commands.

use std::path::PathBuf;

use clap::Args;

use crate::cli::output::Format;
use crate::injection::Edits;

/// Where manifests come from and go to.
#[derive(Clone, Debug, Args)]
pub(super) struct ManifestFlags {
    /// Manifests: files, folders (all *.yaml, *.yml and *.json in them), or - for stdin, which is the default of a pipe
    #[arg(value_name = "FILE|FOLDER|-")]
    pub(super) inputs: Vec<PathBuf>,

    /// Write each changed file in its place, and nothing to stdout
    #[arg(long, short)]
    pub(super) in_place: bool,

    /// Only report what would be done, and write no manifest; the exit code is the same
    #[arg(long, conflicts_with = "in_place")]
    pub(super) check: bool,

    /// Discard later edits of injected parts (default: refuse the object)
    #[arg(long)]
    discard_edits: bool,

    /// Format of the report on stderr
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

impl ManifestFlags {
    pub(super) const fn edits(&self) -> Edits {
        if self.discard_edits { Edits::Discard } else { Edits::Keep }
    }
}
