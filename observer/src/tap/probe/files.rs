//! The files that are probed, each once however many processes run it.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::time::Instant;

use observer_ebpf::{AttachCookie, MAX_FILES};

use super::binary::{BinaryError, OpenSslProbePoints, Rustls, TlsLibrary, probe_points, read_program};
use super::call_rate::CallRate;
use super::kernel::{Attachment, KernelError, Programs};
use super::late::now;
use super::never::NeverProbed;
use super::opened_file::OpenedFile;
use super::plan::{Placement, field_placements, placements};
use super::program_files::{FileIdentity, ProgramFile};

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
    /// The probes would cost too much.
    #[error(
        "its TLS functions are called {rate} times a second, and probes may cost {budget} calls a second of one file; it is left alone for the rest \
         of this run, and its connections go on unseen"
    )]
    TooManyCalls {
        /// Calls a second.
        rate: u64,
        /// As many as are allowed.
        budget: u32,
    },
    /// There are too many.
    #[error("{MAX_FILES} files were looked at in this run, and no further one is")]
    TooMany,
}

/// What was looked at, and what is attached.
#[derive(Debug)]
pub(super) struct ProbedFiles {
    never: NeverProbed,
    known: HashMap<FileIdentity, ProbedFile>,
    /// The number of the next file that is probed.
    next: u16,
    /// The numbers of files that are probed no more.
    left: Vec<u16>,
    are_too_many: bool,
}

/// Nothing is attached to a file that has no TLS library, or cannot be probed.
#[derive(Debug, Default)]
struct ProbedFile {
    attached: Vec<Attachment>,
    /// As the programs call it; of no meaning where nothing is attached.
    number: u16,
    /// As the process has it in which it was found.
    name: String,
    calls: Option<CallRate>,
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
        Self { never, known: HashMap::new(), next: 0, left: Vec::new(), are_too_many: false }
    }

    /// Probes files, as far as that is not done. `left` is told once of each whose connections are not seen for it.
    pub(super) fn probe(&mut self, files: &[ProgramFile], programs: &Programs, left: &mut dyn FnMut(&str, NotProbed)) {
        for file in files {
            let known = self.known.get(&file.identity);
            let is_never = self.never.contains(file);
            // One that is known by another name may turn out to be meant.
            if known.is_some_and(|known| known.is_never || !is_never) {
                continue;
            }
            if known.is_none() && self.known.len() >= usize::from(MAX_FILES) {
                if !std::mem::replace(&mut self.are_too_many, true) {
                    left(&file.name, NotProbed::TooMany);
                }
                continue;
            }
            if is_never {
                let former = self.known.insert(file.identity, ProbedFile { is_never, ..ProbedFile::default() });
                self.left.extend(former.filter(ProbedFile::is_probed).map(|former| former.number));
                left(&file.name, NotProbed::Never);
                continue;
            }
            match probe(file, self.next, programs, &mut |why| left(&file.name, why)) {
                // Its process is gone, and another one may run it yet.
                Err(error) if error.is_gone() => {}
                Err(error) => {
                    left(&file.name, error);
                    self.known.insert(file.identity, ProbedFile::default());
                }
                Ok(probed) => {
                    // There are no more than are known.
                    self.next = self.next.saturating_add(u16::from(probed.is_probed()));
                    self.known.insert(file.identity, probed);
                }
            }
        }
    }

    /// Leaves files alone whose functions are called more often than `budget` allows, a second. `left` is told of each, once.
    pub(super) fn leave_the_busy(&mut self, programs: &Programs, budget: u32, left: &mut dyn FnMut(&str, NotProbed)) {
        let now = Instant::now();
        for probed in self.known.values_mut().filter(|probed| probed.is_probed()) {
            let beyond = probed.calls.as_mut().and_then(|calls| calls.beyond(now, programs.calls(probed.number), budget));
            if let Some(rate) = beyond {
                left(&probed.name, NotProbed::TooManyCalls { rate, budget });
                self.left.push(probed.number);
                *probed = ProbedFile::default();
            }
        }
    }

    /// The numbers of files that are probed no more, each once.
    pub(super) fn take_left(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.left)
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
    pub(super) fn probe_fields(&mut self, file: &ProgramFile, programs: &Programs) -> Result<(), NotProbed> {
        if let Some(probed) = self.known.get_mut(&file.identity)
            && probed.attached_fields.is_empty()
        {
            let opened = OpenedFile::of(file)?;
            probed.attached_fields = attach(opened.path(), probed.number, &probed.fields, programs)?;
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

impl ProbedFile {
    fn is_probed(&self) -> bool {
        !self.attached.is_empty()
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
fn probe(file: &ProgramFile, number: u16, programs: &Programs, left: &mut dyn FnMut(NotProbed)) -> Result<ProbedFile, NotProbed> {
    let opened = OpenedFile::of(file)?;
    let libraries = probe_points(&read_program(opened.path())?)?;
    let wanted: Vec<Placement> = libraries.iter().flat_map(placements).collect();
    // A number may have been another file's that could not be probed to the end.
    let calls = CallRate::since(Instant::now(), programs.calls(number));
    let attached = attach(opened.path(), number, &wanted, programs)?;
    libraries.iter().filter_map(out_of_reach).for_each(left);
    Ok(ProbedFile {
        attached,
        number,
        name: file.name.clone(),
        calls: Some(calls),
        since: now(),
        fields: libraries.iter().flat_map(field_placements).collect(),
        ..ProbedFile::default()
    })
}

/// Why not all plaintext of a library is seen. Without the functions that end a connection all of it is.
pub(super) fn out_of_reach(library: &TlsLibrary) -> Option<NotProbed> {
    match library {
        TlsLibrary::GoCryptoTls(_) => None,
        TlsLibrary::Rustls(_) => Some(NotProbed::Rustls),
        TlsLibrary::OpenSsl(OpenSslProbePoints { refused, .. }) => {
            let mut lost = refused.iter().filter(|refused| !["SSL_free", "SSL_shutdown"].contains(&refused.function));
            lost.next().map(|refused| NotProbed::Function { function: refused.function, reason: refused.reason })
        }
    }
}

fn attach(file: &Path, number: u16, placements: &[Placement], programs: &Programs) -> Result<Vec<Attachment>, KernelError> {
    let attach = |Placement { probe, offsets, descriptor }: &Placement| {
        programs.attach(*probe, file, offsets, AttachCookie { file: number, descriptor: *descriptor })
    };
    placements.iter().map(attach).collect()
}
