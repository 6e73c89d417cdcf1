//! The start of a program's Go code: `text` of its module record (`runtime.firstmoduledata`).
//!
//! Up to Go 1.25 the header of the line table has it too, and both must agree. The address of the section `.text` differs if the
//! program is externally linked: C code comes first. The fields up to `text` are the same in Go 1.18 to 1.27
//! (`src/runtime/symtab.go`, `moduledata`).

use super::line_table::LineTable;
use crate::tap::probe::binary::bounds;
use crate::tap::probe::binary::elf::{Elf, Segment};
use crate::tap::probe::binary::error::BinaryError;
use crate::tap::probe::binary::relocations::Pointers;

const RECORD: &str = "the Go module record";

// Offsets of fields, in bytes.
const NAMES: u64 = 8;
const FUNCTIONS: u64 = 128;
const FUNCTION_COUNT: u64 = 136;
const LOWEST_CODE: u64 = 160;
const END_OF_CODE: u64 = 168;
const TEXT: u64 = 176;

/// The last release whose line table has the start of the code.
const LAST_WITH_TEXT_IN_HEADER: u32 = 25;

/// The virtual address, before relocation, to which the function offsets in the line table are relative.
pub(super) fn text_start(elf: &Elf<'_>, table: &LineTable<'_>, minor: u32) -> Result<u64, BinaryError> {
    let pointers = Pointers::of(elf)?;
    let record = find(elf, &pointers, table)
        .ok_or_else(|| BinaryError::malformed(RECORD, table.address(), "no record points to the line table at this address"))?;
    let malformed = |what| BinaryError::malformed(RECORD, record, what);
    let text = pointers.at(record.wrapping_add(TEXT)).ok_or_else(|| malformed("it is cut off"))?;
    let (first, end) = table.code_range();
    let agrees = |field: u64, offset: u64| pointers.at(record.wrapping_add(field)) == text.checked_add(offset);
    if !agrees(LOWEST_CODE, first) || !agrees(END_OF_CODE, end) {
        return Err(malformed("its range of code contradicts the line table"));
    }
    let in_header = pointers.at(table.text_start_field()).filter(|text| *text != 0);
    if minor <= LAST_WITH_TEXT_IN_HEADER && in_header.is_some_and(|in_header| in_header != text) {
        return Err(malformed("its start of code contradicts that of the line table"));
    }
    Ok(text)
}

/// Finds the record, which begins with a pointer to the line table and is aligned to eight bytes. It is in a writable segment, unless
/// the linker has set the permissions in an unusual way.
fn find(elf: &Elf<'_>, pointers: &Pointers<'_, '_>, table: &LineTable<'_>) -> Option<u64> {
    let is_record = |at: &u64| {
        let points = |field: u64, to: u64| at.checked_add(field).and_then(|field| pointers.at(field)) == Some(to);
        points(NAMES, table.names_address())
            && points(FUNCTIONS, table.functions_address())
            && points(FUNCTION_COUNT, table.functions().saturating_add(1))
    };
    let mut relocated = pointers.relocated_to(table.address()).take(bounds::CANDIDATES);
    relocated.find(is_record).or_else(|| {
        let address = table.address().to_le_bytes();
        let (data, others): (Vec<&Segment>, Vec<&Segment>) = elf.segments().iter().partition(|segment| segment.is_writable);
        data.into_iter().chain(others).find_map(|Segment { extent, .. }| {
            let mut candidates = 0;
            let found = elf.bytes().find(extent.offset, extent.length, &address, |at| {
                candidates += 1;
                let record = extent.address.checked_add(at.checked_sub(extent.offset)?)?;
                let found = (record % 8 == 0 && is_record(&record)).then_some(record);
                found.map(Some).or((candidates == bounds::CANDIDATES).then_some(None))
            });
            found.flatten()
        })
    })
}
