//! Flags of every command that observes: whether and how much is recorded.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;

use super::byte_size::ByteSize;
use crate::capture::{Bounds, CaptureFile, numbered};

/// Whether and how much is recorded.
#[derive(Clone, Debug, Args)]
pub(super) struct CaptureFlags {
    /// Record what is observed to a file, for watchtap read (docs/capture.md); no secret and no object is in it
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,

    /// Size at which the file becomes FILE.1 and a new one begins, such as 500kB, 64MiB, 2GB
    #[arg(long, value_name = "SIZE", default_value = "64MiB", requires = "capture")]
    capture_max_size: ByteSize,

    /// How many files are kept, the newest ones
    #[arg(long, value_name = "N", default_value_t = 4, requires = "capture", value_parser = clap::value_parser!(u32).range(1..=1000))]
    capture_files: u32,
}

impl CaptureFlags {
    /// The files that may come to be, if any: the one that is wanted, and what rotation makes of it.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let of = |file: &PathBuf| (0..self.capture_files).map(|number| numbered(file, number)).collect();
        self.capture.as_ref().map(of).unwrap_or_default()
    }

    /// Creates the file, if one is wanted.
    pub(super) fn create(&self) -> Result<Option<CaptureFile>> {
        let bounds = Bounds { max_size: self.capture_max_size.0, files: self.capture_files };
        let create =
            |path: &PathBuf| CaptureFile::create(path, bounds).map_err(|error| anyhow!("cannot write {}: {error}", path.display()));
        self.capture.as_ref().map(create).transpose()
    }
}
