//! `cargo xtask release`: all files of a release, in one folder, with the same bytes for the same commit.
//!
//! The folder holds an archive for each target, the container image, bills of materials, the chart and the manifest for krew. `install.sh`
//! and the checksums of all of them are there, too. Publishing and signing is left to whoever releases.

mod command;

mod archive;
mod chart;
mod checksums;
mod contents;
mod installer;
mod krew;
mod manual;

#[cfg(test)]
mod tests;

pub(crate) use command::{Args, execute};
