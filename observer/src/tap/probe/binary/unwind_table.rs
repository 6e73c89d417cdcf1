//! The starts of functions, with or without a symbol, from the unwinder's search table (`.eh_frame_hdr`).
//!
//! Layout: Linux Standard Base Core 5.0, 10.6.2. Only the form that GNU ld, gold and lld write is supported.

use object::elf::PT_GNU_EH_FRAME;

use super::elf::{Elf, Extent, u32_at};

/// Version 1. The pointer to `.eh_frame`: 4 signed bytes, relative to their own place. The number of entries: 4 bytes. Each entry:
/// two numbers of 4 signed bytes, relative to the start of this header.
const HEADER: &[u8] = &[1, 0x1b, 0x03, 0x3b];
const ENTRIES_AT: u64 = 12;
const ENTRY_BYTES: u64 = 8;

/// The starts of functions, ascending.
pub(super) struct UnwindTable<'e, 'a> {
    elf: &'e Elf<'a>,
    table: Extent,
    entries: u64,
}

impl<'e, 'a> UnwindTable<'e, 'a> {
    /// The table of a file, if it has one in the usual form.
    pub(super) fn of(elf: &'e Elf<'a>) -> Option<Self> {
        let table = elf.of_type(PT_GNU_EH_FRAME.0)?;
        let header = elf.read(table.first(ENTRIES_AT)?).filter(|header| header.bytes.starts_with(HEADER))?;
        let room = table.length.checked_sub(ENTRIES_AT)? / ENTRY_BYTES;
        let entries = u64::from(u32_at(&header.bytes, 8)?);
        (entries <= room).then_some(Self { elf, table, entries })
    }

    /// Start and end of the piece of code at this address. The end is the start of the next piece, so the piece includes padding.
    pub(super) fn extent(&self, address: u64) -> Option<(u64, u64)> {
        let (mut low, mut high) = (0, self.entries);
        while low < high {
            let middle = u64::midpoint(low, high);
            if self.start(middle)? <= address { low = middle.checked_add(1)? } else { high = middle }
        }
        Some((self.start(low.checked_sub(1)?)?, self.start(low).filter(|_| low < self.entries)?))
    }

    fn start(&self, entry: u64) -> Option<u64> {
        let at = ENTRIES_AT.checked_add(entry.checked_mul(ENTRY_BYTES)?)?;
        let field = self.table.offset.checked_add(at).and_then(|at| self.elf.bytes().piece(at, 4))?;
        let from_here = u32_at(&field, 0)?.cast_signed();
        self.table.address.checked_add_signed(i64::from(from_here))
    }
}
