//! The files that are probed, each once however many processes run it.

use std::collections::HashMap;
use std::path::Path;

use super::binary::{BinaryError, probe_points, read_program};
use super::kernel::{Attachment, KernelError, Programs};
use super::plan::placements;
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
    /// Nothing is attached to a file that has no TLS library, or cannot be probed.
    known: HashMap<FileIdentity, Vec<Attachment>>,
}

impl ProbedFiles {
    /// Probes files, as far as that is not done. `failed` is told of those that should be probed and cannot be.
    pub(super) fn probe(
        &mut self,
        files: Vec<ProgramFile>,
        programs: &mut Programs,
        failed: &mut dyn FnMut(&ProgramFile, FileError),
    ) {
        for file in files {
            if self.known.contains_key(&file.identity) || self.known.len() >= MAX_FILES {
                continue;
            }
            let attached = attach(&file.path, programs).unwrap_or_else(|error| {
                failed(&file, error);
                Vec::new()
            });
            self.known.insert(file.identity, attached);
        }
    }

    /// How many files are probed.
    pub(super) fn probed(&self) -> usize {
        self.known.values().filter(|attached| !attached.is_empty()).count()
    }
}

fn attach(file: &Path, programs: &mut Programs) -> Result<Vec<Attachment>, FileError> {
    let libraries = probe_points(&read_program(file)?)?;
    let mut attached = Vec::new();
    for placement in libraries.iter().flat_map(placements) {
        attached.push(programs.attach(placement.probe, file, &placement.offsets, placement.cookie)?);
    }
    Ok(attached)
}
