//! A place for trials: the entry point of watchtap's own executable. This process has already passed it, and any other process with
//! this executable passes it once. There the programs find no connection that matters.

use procfs::process::Process;

/// The path of this program itself, whatever its name.
pub(in crate::tap::probe) const OWN_PROGRAM: &str = "/proc/self/exe";
/// `AT_ENTRY` of Linux `include/uapi/linux/auxvec.h`: the entry point of a program.
const ENTRY: u64 = 9;

/// The file offset of this program's first instruction.
pub(in crate::tap::probe) fn own_entry() -> Option<u64> {
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
