//! Loads and attaches the programs for a moment, since only that proves that the kernel permits it.

use std::net::SocketAddr;
use std::path::Path;

use observer_ebpf::{AttachCookie, DescriptorOffsets, Filter};

use crate::error_chain::in_words;
use crate::tap::probe::kernel::{AttachBy, KernelError, OWN_PROGRAM, Options, PairBy, Probe, Programs, Selected, own_entry};

/// Size of the ring buffer, in bytes. Nothing is recorded in it.
const RING_BYTES: u32 = 64 << 10;
/// The cookie of one file, with unknown offsets.
const COOKIE: AttachCookie = AttachCookie { file: 0, descriptor: DescriptorOffsets::UNKNOWN };

/// The outcome of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Works,
    /// The kernel's message.
    Refused(String),
    /// An earlier step does not work.
    NotTried,
}

/// The outcomes of all steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    /// The maps are made, and the uprobe programs loaded.
    pub programs: Step,
    /// The programs attach to watchtap's own executable.
    pub uprobes: Step,
    /// Starts and ends of processes are reported.
    pub processes: Step,
    /// State changes of sockets are reported.
    pub sockets: Step,
    /// Sends and receives of threads are reported.
    pub pairing: Step,
    /// How the programs are attached to files, if they are.
    pub attached_by: Option<AttachBy>,
    /// How sends and receives are reported, if they are.
    pub paired_by: Option<PairBy>,
}

impl Trial {
    pub(super) fn here() -> Self {
        let options = Options {
            ring_bytes: RING_BYTES,
            filter: Filter { flags: 0, own: std::process::id(), namespace_inode: 0 },
            selected: Selected::default(),
            api_servers: Vec::<SocketAddr>::new(),
            attach_by: None,
        };
        let (mut programs, _recorded) = match Programs::load(&options) {
            Ok(programs) => programs,
            Err(error) => return Self::refused(&error),
        };
        let pairing = programs.pair_by_use(None);
        Self {
            attached_by: Some(programs.attach_by()),
            paired_by: pairing.as_ref().ok().copied(),
            programs: Step::Works,
            uprobes: uprobes(&programs),
            processes: Step::of(programs.report_processes()),
            sockets: Step::of(programs.report_sockets()),
            pairing: Step::of(pairing.map(drop)),
        }
    }

    fn refused(error: &KernelError) -> Self {
        let [programs, uprobes, processes, sockets, pairing] = [const { Step::NotTried }; 5];
        let tried = Self { programs, uprobes, processes, sockets, pairing, attached_by: None, paired_by: None };
        let refused = Step::Refused(in_words(error));
        // The way to attach is chosen first, with programs that do nothing.
        if matches!(error, KernelError::NoUprobes(_)) {
            Self { uprobes: refused, ..tried }
        } else {
            Self { programs: refused, ..tried }
        }
    }
}

impl Step {
    fn of(result: Result<(), KernelError>) -> Self {
        match result {
            Ok(()) => Self::Works,
            Err(error) => Self::Refused(in_words(&error)),
        }
    }
}

/// Whether all uprobe programs attach to watchtap's executable.
fn uprobes(programs: &Programs) -> Step {
    let Some(entry) = own_entry() else {
        return Step::Refused(format!("cannot find the entry point of {OWN_PROGRAM}"));
    };
    // Detaches at once.
    let attach = |probe| programs.attach(probe, Path::new(OWN_PROGRAM), &[entry], COOKIE).map(drop);
    Step::of(Probe::ALL.into_iter().try_for_each(attach))
}
