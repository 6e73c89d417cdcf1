//! The files that are probed, each once however many processes run it.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use super::binary::{BinaryError, OpenSslProbePoints, Rustls, TlsLibrary, probe_points, read_program};
use super::kernel::{Attachment, KernelError, Programs};
use super::late::now;
use super::never::NeverProbed;
use super::opened_file::OpenedFile;
use super::plan::{Placement, field_placements, placements};
use super::program_files::{FileIdentity, ProgramFile};

/// Files that are remembered; beyond that no further one is probed.
const MAX_FILES: usize = 4_096;

/// Why connections of a file are not seen, or not all of them.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotProbed {
    /// Where probes would go cannot be known.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// The kernel does not probe it.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// It cannot be opened.
    #[error("cannot open it: {0}")]
    Opening(#[from] io::Error),
    /// Its library is out of reach.
    #[error("{}", Rustls::OUT_OF_REACH)]
    Rustls,
    /// One of the functions that plaintext passes is out of reach.
    #[error("cannot probe {function}: {reason}")]
    Function {
        /// Which one.
        function: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// Somebody said so.
    #[error("it is among the files that are never probed")]
    Never,
    /// There are too many.
    #[error("{MAX_FILES} files were looked at, and no further one is")]
    TooMany,
}

/// What was looked at, and what is attached.
#[derive(Debug)]
pub(super) struct ProbedFiles {
    never: NeverProbed,
    known: HashMap<FileIdentity, ProbedFile>,
    are_too_many: bool,
}

/// Nothing is attached to a file that has no TLS library, or cannot be probed.
#[derive(Debug, Default)]
struct ProbedFile {
    _attached: Vec<Attachment>,
    /// Since when, in ticks of the machine's clock.
    since: u64,
    /// What would tell header fields.
    fields: Vec<Placement>,
    /// It, while it is wanted.
    attached_fields: Vec<Attachment>,
    is_never: bool,
}

impl ProbedFiles {
    pub(super) fn new(never: NeverProbed) -> Self {
        Self { never, known: HashMap::new(), are_too_many: false }
    }

    /// Probes files, as far as that is not done. `left` is told once of each whose connections are not seen for it.
    pub(super) fn probe(&mut self, files: &[ProgramFile], programs: &mut Programs, left: &mut dyn FnMut(&ProgramFile, NotProbed)) {
        for file in files {
            let known = self.known.get(&file.identity);
            let is_never = self.never.contains(file);
            // One that is known by another name may turn out to be meant.
            if known.is_some_and(|known| known.is_never || !is_never) {
                continue;
            }
            if known.is_none() && self.known.len() >= MAX_FILES {
                if !std::mem::replace(&mut self.are_too_many, true) {
                    left(file, NotProbed::TooMany);
                }
                continue;
            }
            if is_never {
                self.known.insert(file.identity, ProbedFile { is_never, ..ProbedFile::default() });
                left(file, NotProbed::Never);
                continue;
            }
            match probe(file, programs, &mut |why| left(file, why)) {
                // Its process is gone, and another one may run it yet.
                Err(error) if error.is_gone() => {}
                Err(error) => {
                    left(file, error);
                    self.known.insert(file.identity, ProbedFile::default());
                }
                Ok(probed) => {
                    self.known.insert(file.identity, probed);
                }
            }
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
    pub(super) fn probe_fields(&mut self, file: &ProgramFile, programs: &mut Programs) -> Result<(), NotProbed> {
        if let Some(probed) = self.known.get_mut(&file.identity)
            && probed.attached_fields.is_empty()
        {
            let opened = OpenedFile::of(file)?;
            probed.attached_fields = attach(opened.path(), &probed.fields, programs)?;
        }
        Ok(())
    }

    /// Has them told no more.
    pub(super) fn leave_fields(&mut self, file: FileIdentity) {
        if let Some(probed) = self.known.get_mut(&file) {
            probed.attached_fields.clear();
        }
    }

    /// How many files have header fields told.
    pub(super) fn telling_fields(&self) -> usize {
        self.known.values().filter(|probed| !probed.attached_fields.is_empty()).count()
    }
}

impl NotProbed {
    /// Whether the file could not be reached any more through the process in which it was found.
    pub(super) fn is_gone(&self) -> bool {
        let Self::Opening(source) = self else { return false };
        source.kind() == io::ErrorKind::NotFound || source.raw_os_error() == Some(libc::ESRCH)
    }
}

/// Probes what can be probed of a file; `left` is told of the rest.
fn probe(file: &ProgramFile, programs: &mut Programs, left: &mut dyn FnMut(NotProbed)) -> Result<ProbedFile, NotProbed> {
    let file = OpenedFile::of(file)?;
    let libraries = probe_points(&read_program(file.path())?)?;
    let wanted: Vec<Placement> = libraries.iter().flat_map(placements).collect();
    let attached = attach(file.path(), &wanted, programs)?;
    libraries.iter().filter_map(out_of_reach).for_each(left);
    Ok(ProbedFile {
        _attached: attached,
        since: now(),
        fields: libraries.iter().flat_map(field_placements).collect(),
        ..ProbedFile::default()
    })
}

/// Why not all plaintext of a library is seen. Without the functions that end a connection all of it is.
fn out_of_reach(library: &TlsLibrary) -> Option<NotProbed> {
    match library {
        TlsLibrary::GoCryptoTls(_) => None,
        TlsLibrary::Rustls(_) => Some(NotProbed::Rustls),
        TlsLibrary::OpenSsl(OpenSslProbePoints { refused, .. }) => {
            let mut lost = refused.iter().filter(|refused| !["SSL_free", "SSL_shutdown"].contains(&refused.function));
            lost.next().map(|refused| NotProbed::Function { function: refused.function, reason: refused.reason })
        }
    }
}

fn attach(file: &Path, placements: &[Placement], programs: &mut Programs) -> Result<Vec<Attachment>, KernelError> {
    placements.iter().map(|placement| programs.attach(placement.probe, file, &placement.offsets, placement.cookie)).collect()
}
