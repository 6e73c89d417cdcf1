//! The programs loaded and attached for a moment, as the only proof that they can be.

use std::net::SocketAddr;
use std::path::Path;

use observer_ebpf::{AttachCookie, DescriptorOffsets, Filter};
use procfs::process::Process;

use crate::error_chain::in_words;
use crate::tap::probe::kernel::{KernelError, Options, Probe, Programs, Selected};

/// Nothing is recorded into it.
const RING_BYTES: u32 = 64 << 10;
/// The only file, of which nothing is known.
const COOKIE: AttachCookie = AttachCookie { file: 0, descriptor: DescriptorOffsets::UNKNOWN };
/// This program itself, whatever its name.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// `AT_ENTRY` of Linux `include/uapi/linux/auxvec.h`: where a program begins.
const ENTRY: u64 = 9;

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Works,
    /// In the kernel's words.
    Refused(String),
    /// What comes before it does not work.
    NotTried,
}

/// What came of each step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    /// Maps are made, and the programs of uprobes loaded.
    pub programs: Step,
    /// They attach to our own program.
    pub uprobes: Step,
    /// Beginnings and ends of processes are told.
    pub processes: Step,
    /// Changes of sockets are told.
    pub sockets: Step,
    /// What threads send and receive is told.
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
            processes: Step::of(programs.tell_of_processes()),
            sockets: Step::of(programs.tell_of_sockets()),
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

/// Whether each of them attaches. The place is one that this process has passed, and another of the same program passes once; there the programs find no
/// connection that anybody asks for.
fn uprobes(programs: &Programs) -> Step {
    let Some(entry) = own_entry() else {
        return Step::Refused(format!("cannot tell where {OWN_PROGRAM} begins"));
    };
    // What is attached is left at once.
    let attach = |probe| programs.attach(probe, Path::new(OWN_PROGRAM), &[entry], COOKIE).map(drop);
    Step::of(Probe::ALL.into_iter().try_for_each(attach))
}

/// Where in the file of this program its first instruction is.
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
    fn place_of_the_trial_is_the_entry_that_the_header_tells() {
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
