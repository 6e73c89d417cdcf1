//! Flags that record a capture, for every command that observes.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;

use super::byte_size::ByteSize;
use crate::capture::{Bounds, CaptureFile, numbered};

/// Whether to record a capture, and its bounds.
#[derive(Clone, Debug, Args)]
pub(crate) struct CaptureFlags {
    /// Record the run to this file, for `watchtap read` (docs/capture.md); it contains no secrets and no objects
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,

    /// Size at which the --capture file is renamed to FILE.1 and a new one begins, such as 500kB, 64MiB, 2GB
    #[arg(long, value_name = "SIZE", default_value = "64MiB", requires = "capture")]
    capture_max_size: ByteSize,

    /// Maximum number of --capture files; the oldest are removed
    #[arg(long, value_name = "N", default_value_t = 4, requires = "capture", value_parser = clap::value_parser!(u32).range(1..=1000))]
    capture_files: u32,
}

impl CaptureFlags {
    /// All files that may be created, rotation included; empty without `--capture`.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let of = |file: &PathBuf| (0..self.capture_files).map(|number| numbered(file, number)).collect();
        self.capture.as_ref().map(of).unwrap_or_default()
    }

    /// Creates the capture's file; `None` without `--capture`.
    pub(crate) fn create(&self) -> Result<Option<CaptureFile>> {
        let bounds = Bounds { max_size: self.capture_max_size.0, files: self.capture_files };
        let create =
            |path: &PathBuf| CaptureFile::create(path, bounds).map_err(|error| anyhow!("cannot write {}: {error}", path.display()));
        self.capture.as_ref().map(create).transpose()
    }
}
