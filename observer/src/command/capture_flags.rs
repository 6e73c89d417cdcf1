//! Flags of every command that observes: whether and how much is recorded.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;

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

/// A number of bytes with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ByteSize(u64);

/// Less is a file for every few requests.
const LEAST: u64 = 64 << 10;

const UNITS: [(&str, u64); 8] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];

impl FromStr for ByteSize {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = UNITS.iter().find_map(|(name, unit)| text.strip_suffix(name).map(|number| (number.trim_end(), *unit)));
        let (number, unit) = found.unwrap_or((text, 1));
        let number: u64 = number.parse().ok().context("a size is a whole number with a unit, such as 64MiB or 500kB")?;
        let bytes = number.checked_mul(unit).context("a size beyond 16 EiB")?;
        if bytes < LEAST {
            bail!("a size below 64KiB");
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSize;

    #[test]
    fn sizes_have_a_unit_or_are_bytes() {
        for (text, bytes) in
            [("64MiB", Some(64 << 20)), ("500kB", Some(500_000)), ("70000", Some(70_000)), ("2 GB", Some(2_000_000_000))]
        {
            assert_eq!(text.parse::<ByteSize>().ok(), bytes.map(ByteSize), "{text}");
        }
        for text in ["", "MiB", "-1MiB", "1.5GB", "64mib", "1", "63KiB", "99999999999999999999", "99999999TiB"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }
}
