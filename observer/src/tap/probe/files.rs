//! The files that are probed, each once however many processes run it.

use std::collections::HashMap;
use std::path::Path;

use super::binary::{BinaryError, probe_points, read_program};
use super::kernel::{Attachment, KernelError, Programs};
use super::late::now;
use super::plan::{Placement, field_placements, placements};
use super::program_files::{FileIdentity, ProgramFile};

/// Files that are remembered; beyond that no further one is probed.
const MAX_FILES: usize = 4_096;

/// Why a file is not probed.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    /// Where probes would go cannot be known.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// The kernel does not probe it.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// What was looked at, and what is attached.
#[derive(Debug, Default)]
pub(super) struct ProbedFiles {
    known: HashMap<FileIdentity, ProbedFile>,
}

/// Nothing is attached to a file that has no TLS library, or cannot be probed.
#[derive(Debug, Default)]
struct ProbedFile {
    attached: Vec<Attachment>,
    /// Since when, in ticks of the machine's clock.
    since: u64,
    /// What would tell header fields.
    fields: Vec<Placement>,
    /// It, while it is wanted.
    attached_fields: Vec<Attachment>,
}

impl ProbedFiles {
    /// Probes files, as far as that is not done. `failed` is told of those that should be probed and cannot be.
    pub(super) fn probe(
        &mut self,
        files: &[ProgramFile],
        programs: &mut Programs,
        failed: &mut dyn FnMut(&ProgramFile, FileError),
    ) {
        for file in files {
            if self.known.contains_key(&file.identity) || self.known.len() >= MAX_FILES {
                continue;
            }
            let probed = probe(&file.path, programs).unwrap_or_else(|error| {
                failed(file, error);
                ProbedFile::default()
            });
            self.known.insert(file.identity, probed);
        }
    }

    /// Whether header fields can be had of what this file's processes say over HTTP/2.
    pub(super) fn tells_fields(&self, file: FileIdentity) -> bool {
        self.known.get(&file).is_some_and(|probed| !probed.fields.is_empty())
    }

    /// Since when a file is probed, as [`late::now`](now).
    pub(super) fn probed_since(&self, file: FileIdentity) -> Option<u64> {
        self.known.get(&file).map(|probed| probed.since)
    }

    /// Has header fields told.
    pub(super) fn probe_fields(&mut self, file: &ProgramFile, programs: &mut Programs) -> Result<(), KernelError> {
        if let Some(probed) = self.known.get_mut(&file.identity)
            && probed.attached_fields.is_empty()
        {
            probed.attached_fields = attach(&file.path, &probed.fields, programs)?;
        }
        Ok(())
    }

    /// Has them told no more.
    pub(super) fn leave_fields(&mut self, file: FileIdentity) {
        if let Some(probed) = self.known.get_mut(&file) {
            probed.attached_fields.clear();
        }
    }

    /// How many files are probed.
    pub(super) fn probed(&self) -> usize {
        self.known.values().filter(|probed| !probed.attached.is_empty()).count()
    }

    /// How many of them have header fields told.
    pub(super) fn telling_fields(&self) -> usize {
        self.known.values().filter(|probed| !probed.attached_fields.is_empty()).count()
    }
}

fn probe(file: &Path, programs: &mut Programs) -> Result<ProbedFile, FileError> {
    let libraries = probe_points(&read_program(file)?)?;
    let wanted: Vec<Placement> = libraries.iter().flat_map(placements).collect();
    let attached = attach(file, &wanted, programs)?;
    Ok(ProbedFile {
        attached,
        since: now(),
        fields: libraries.iter().flat_map(field_placements).collect(),
        attached_fields: Vec::new(),
    })
}

fn attach(file: &Path, placements: &[Placement], programs: &mut Programs) -> Result<Vec<Attachment>, KernelError> {
    placements.iter().map(|placement| programs.attach(placement.probe, file, &placement.offsets, placement.cookie)).collect()
}
