//! Loads and attaches the programs for a moment, since only that proves that the kernel permits it.

use std::net::SocketAddr;
use std::path::Path;

use observer_ebpf::{AttachCookie, DescriptorOffsets, Filter};
use procfs::process::Process;

use crate::error_chain::in_words;
use crate::tap::probe::kernel::{KernelError, Options, Probe, Programs, Selected};

/// Size of the ring buffer, in bytes. Nothing is recorded in it.
const RING_BYTES: u32 = 64 << 10;
/// The cookie of one file, with unknown offsets.
const COOKIE: AttachCookie = AttachCookie { file: 0, descriptor: DescriptorOffsets::UNKNOWN };
/// The path of this program itself, whatever its name.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// `AT_ENTRY` of Linux `include/uapi/linux/auxvec.h`: the entry point of a program.
const ENTRY: u64 = 9;

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
}

impl Trial {
    pub(super) fn here() -> Self {
        let options = Options {
            ring_bytes: RING_BYTES,
            filter: Filter { flags: 0, own: std::process::id(), namespace_device: 0, namespace_inode: 0 },
            selected: Selected::default(),
            api_servers: Vec::<SocketAddr>::new(),
        };
        let (mut programs, _recorded) = match Programs::load(&options) {
            Ok(programs) => programs,
            Err(error) => return Self::refused(&error),
        };
        Self {
            programs: Step::Works,
            uprobes: uprobes(&programs),
            processes: Step::of(programs.report_processes()),
            sockets: Step::of(programs.report_sockets()),
            pairing: Step::of(programs.pair_by_use()),
        }
    }

    fn refused(error: &KernelError) -> Self {
        let [uprobes, processes, sockets, pairing] = [const { Step::NotTried }; 4];
        Self { programs: Step::Refused(in_words(error)), uprobes, processes, sockets, pairing }
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

/// Whether all uprobe programs attach to the entry point of watchtap's executable. This process has already passed it, and any
/// other process with this executable passes it once. There the uprobe programs find no connection that matters.
fn uprobes(programs: &Programs) -> Step {
    let Some(entry) = own_entry() else {
        return Step::Refused(format!("cannot find the entry point of {OWN_PROGRAM}"));
    };
    // Detaches at once.
    let attach = |probe| programs.attach(probe, Path::new(OWN_PROGRAM), &[entry], COOKIE).map(drop);
    Step::of(Probe::ALL.into_iter().try_for_each(attach))
}

/// The file offset of this program's first instruction.
fn own_entry() -> Option<u64> {
    let own = Process::myself().ok()?;
    let address = *own.auxv().ok()?.get(&ENTRY)?;
    let maps = own.maps().ok()?;
    let map = maps.into_iter().find(|map| (map.address.0..map.address.1).contains(&address))?;
    address.checked_sub(map.address.0)?.checked_add(map.offset)
}

#[cfg(test)]
mod tests {
    use object::LittleEndian;
    use object::elf::FileHeader64;
    use object::read::elf::{FileHeader as _, ProgramHeader as _};

    use super::*;

    #[test]
    fn trial_probe_is_placed_at_the_program_entry() {
        let program = std::fs::read(OWN_PROGRAM).unwrap();
        let header = FileHeader64::<LittleEndian>::parse(program.as_slice()).unwrap();
        let entry = header.e_entry(LittleEndian);
        let segments = header.program_headers(LittleEndian, program.as_slice()).unwrap();
        let found = segments.iter().find_map(|segment| {
            let within =
                entry.checked_sub(segment.p_vaddr(LittleEndian)).filter(|within| *within < segment.p_filesz(LittleEndian))?;
            (segment.p_type(LittleEndian) == object::elf::PT_LOAD).then(|| segment.p_offset(LittleEndian) + within)
        });
        assert!(found.is_some());
        assert_eq!(own_entry(), found);
    }
}
