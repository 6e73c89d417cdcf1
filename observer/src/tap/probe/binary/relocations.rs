//! The pointers that the loader fills in: their places and targets.
//!
//! In a position-independent program, a pointer may be zero in the file and exist only in a relocation.

use object::elf::{DT_RELA, DT_RELASZ, PT_DYNAMIC, R_AARCH64_RELATIVE, R_X86_64_RELATIVE, Rela64, RelocationType};
use object::{LittleEndian, pod};

use super::elf::{Elf, Machine, u64_at};
use super::error::BinaryError;

const LITTLE: LittleEndian = LittleEndian;

/// Pointers as the loader will set them, before the program's base is added.
pub(super) struct Pointers<'e, 'a> {
    elf: &'e Elf<'a>,
    relocations: Vec<Rela64<LittleEndian>>,
    relative: RelocationType,
}

impl<'e, 'a> Pointers<'e, 'a> {
    /// The pointers of a program; without a dynamic segment there are no relocations.
    pub(super) fn of(elf: &'e Elf<'a>) -> Result<Self, BinaryError> {
        let relative = match elf.machine {
            Machine::X86_64 => R_X86_64_RELATIVE,
            Machine::Arm64 => R_AARCH64_RELATIVE,
        };
        Ok(Self { elf, relocations: relocations(elf)?, relative })
    }

    /// The pointer at an address, from its relocation or else from the file. (The pointers of packed relocations, `DT_RELR`, are in
    /// the file.)
    pub(super) fn at(&self, address: u64) -> Option<u64> {
        let relocated = self.relative().find(|(at, _)| *at == address);
        relocated.map(|(_, target)| target).or_else(|| u64_at(&self.elf.read(self.elf.loaded(address)?.first(8)?)?.bytes, 0))
    }

    /// Where relocations put a pointer to `target`.
    pub(super) fn relocated_to(&self, target: u64) -> impl Iterator<Item = u64> {
        self.relative().filter(move |(_, to)| *to == target).map(|(at, _)| at)
    }

    fn relative(&self) -> impl Iterator<Item = (u64, u64)> {
        let relative = self.relocations.iter().filter(|entry| entry.r_type(LITTLE, false) == self.relative);
        relative.map(|entry| (entry.r_offset.get(LITTLE), entry.r_addend.get(LITTLE).cast_unsigned()))
    }
}

fn relocations(elf: &Elf<'_>) -> Result<Vec<Rela64<LittleEndian>>, BinaryError> {
    let Some(dynamic) = elf.of_type(PT_DYNAMIC.0).and_then(|dynamic| elf.read(dynamic)) else { return Ok(Vec::new()) };
    let entries = dynamic.bytes.chunks_exact(16).filter_map(|entry| Some((u64_at(entry, 0)?, u64_at(entry, 8)?)));
    let value = |tag: i64| entries.clone().find(|(key, _)| key.cast_signed() == tag).map(|(_, value)| value);
    let (Some(address), Some(size)) = (value(DT_RELA.0), value(DT_RELASZ.0)) else { return Ok(Vec::new()) };
    let malformed = |what| BinaryError::malformed("the relocation table (DT_RELA)", dynamic.offset, what);
    let table = elf.loaded(address).and_then(|table| table.first(size)).ok_or_else(|| malformed("it does not lie in a segment"))?;
    let table = elf.read(table).ok_or_else(|| malformed("it has too many entries"))?;
    let count = table.bytes.len() / size_of::<Rela64<LittleEndian>>();
    let (entries, _) = pod::slice_from_bytes(&table.bytes, count).map_err(|()| malformed("it is cut off"))?;
    Ok(entries.to_vec())
}
