//! Go's line table (`.gopclntab`): the names and starts of functions.
//!
//! Layout: Go `src/runtime/symtab.go` (`pcHeader`, `functab`) and `src/runtime/runtime2.go` (`_func`), 1.18 to 1.27.

use memchr::memmem;

use crate::tap::probe::binary::bounds;
use crate::tap::probe::binary::elf::{Elf, Machine, Stretch, u32_at, u64_at};
use crate::tap::probe::binary::error::BinaryError;

const SECTION: &str = ".gopclntab";

/// Names of the section in ordinary programs, and in position-independent and older externally linked ones.
const NAMES: &[&str] = &[SECTION, ".data.rel.ro.gopclntab"];

/// `abi.Go118PCLnTabMagic`: Go 1.18 and 1.19.
const MAGIC_1_18: u32 = 0xffff_fff0;
/// `abi.Go120PCLnTabMagic`: Go 1.20 and later.
const MAGIC_1_20: u32 = 0xffff_fff1;

const POINTER_BYTES: u8 = 8;

/// A line table with a checked header.
pub(super) struct LineTable<'a> {
    table: Stretch<'a>,
    functions: u64,
    names_at: u64,
    names: &'a [u8],
    functions_at: u64,
}

/// A function, by offsets from the start of the program's Go code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Located {
    pub(super) start: u64,
    pub(super) length: u64,
}

impl<'a> LineTable<'a> {
    /// Finds the table of a Go 1.`minor` program, by the names of its section or else by its magic.
    ///
    /// The name is only a hint. A stripped position-independent program of Go 1.25 has no section of these names if it is
    /// externally linked.
    pub(super) fn find(elf: &Elf<'a>, minor: u32) -> Result<Self, BinaryError> {
        let start = Start::of(elf.machine, minor);
        for name in NAMES {
            if let Some(section) = elf.section(name) {
                let table = elf.loaded(section.address).filter(|table| table.offset == section.offset);
                let table = table.ok_or_else(|| BinaryError::malformed(SECTION, section.offset, "it is not loaded"))?;
                return Self::parse(table, &start);
            }
        }
        scanned(elf, &start)
    }

    fn parse(table: Stretch<'a>, start: &Start) -> Result<Self, BinaryError> {
        let malformed = |at: u64, what| BinaryError::malformed(SECTION, table.offset.saturating_add(at), what);
        if !table.bytes.starts_with(&start.bytes()) {
            return Err(malformed(0, "its header is not that of the Go release that the program names"));
        }
        let word = |at| u64_at(table.bytes, at).ok_or_else(|| malformed(at, "its header is cut off"));
        let functions = word(8)?;
        let (names_at, units_at, functions_at) = (word(32)?, word(40)?, word(64)?);
        if functions == 0 || functions > bounds::GO_FUNCTIONS {
            return Err(malformed(8, "its number of functions is not one of a program"));
        }
        let offsets = [names_at, units_at, word(48)?, word(56)?, functions_at];
        if !offsets.is_sorted() {
            return Err(malformed(32, "its parts overlap"));
        }
        let end = functions.checked_mul(8).and_then(|bytes| bytes.checked_add(functions_at)?.checked_add(4));
        if end.is_none_or(|end| end > u64::try_from(table.bytes.len()).unwrap_or(u64::MAX)) {
            return Err(malformed(8, "it is shorter than its number of functions"));
        }
        let range = usize::try_from(names_at).ok().zip(usize::try_from(units_at).ok());
        let names = range.and_then(|(from, to)| table.bytes.get(from..to)).ok_or_else(|| malformed(32, "its names are cut off"))?;
        Ok(Self { table, functions, names_at, names, functions_at })
    }

    /// Virtual address of the table, before relocation.
    pub(super) fn address(&self) -> u64 {
        self.table.address
    }

    /// Address of the names, before relocation.
    pub(super) fn names_address(&self) -> u64 {
        self.table.address.wrapping_add(self.names_at)
    }

    /// Address of the table of functions, before relocation.
    pub(super) fn functions_address(&self) -> u64 {
        self.table.address.wrapping_add(self.functions_at)
    }

    pub(super) fn functions(&self) -> u64 {
        self.functions
    }

    /// Address of the field that holds the start of the code, up to Go 1.25.
    pub(super) fn text_start_field(&self) -> u64 {
        self.table.address.wrapping_add(24)
    }

    /// Offsets of the first function and of the end of the last one.
    pub(super) fn code_range(&self) -> Option<(u64, u64)> {
        Some((self.function_start(0)?, self.function_start(self.functions)?))
    }

    /// Locates the functions of these names, in the same order; `None` for a name that no function has.
    ///
    /// The names are looked up first; one pass over the functions then compares numbers. So the cost hardly grows with the number
    /// of names: 80 000 functions take a few milliseconds.
    pub(super) fn locate(&self, wanted: &[&'static str]) -> Result<Vec<Option<Located>>, BinaryError> {
        let numbers: Vec<Option<u32>> = wanted.iter().map(|name| self.name_number(name)).collect();
        let mut located = vec![None; wanted.len()];
        if numbers.iter().all(Option::is_none) {
            return Ok(located);
        }
        for index in 0..self.functions {
            let at = index.saturating_mul(8);
            let (name, record_start) = self.record(index).ok_or_else(|| self.malformed(at, "a function has no record"))?;
            let Some(which) = numbers.iter().position(|number| *number == Some(name)) else { continue };
            let found = self.located(index).filter(|found| found.start == u64::from(record_start));
            let found = found.ok_or_else(|| self.malformed(at, "a function's start contradicts its record"))?;
            if let Some(place) = located.get_mut(which)
                && place.replace(found).is_some()
            {
                return Err(self.malformed(at, "two functions have the same name"));
            }
        }
        Ok(located)
    }

    /// The name and start in a function's record.
    fn record(&self, index: u64) -> Option<(u32, u32)> {
        let field = self.functions_at.checked_add(index.checked_mul(8)?)?.checked_add(4)?;
        let record = self.functions_at.checked_add(u64::from(u32_at(self.table.bytes, field)?))?;
        Some((u32_at(self.table.bytes, record.checked_add(4)?)?, u32_at(self.table.bytes, record)?))
    }

    fn located(&self, index: u64) -> Option<Located> {
        let start = self.function_start(index)?;
        let end = self.function_start(index.checked_add(1)?)?;
        Some(Located { start, length: end.checked_sub(start)? })
    }

    /// The entry after the last function is the end of the code.
    fn function_start(&self, index: u64) -> Option<u64> {
        let at = self.functions_at.checked_add(index.checked_mul(8)?)?;
        u32_at(self.table.bytes, at).map(u64::from)
    }

    /// The offset of a name, by which records refer to it; names end with a zero byte.
    fn name_number(&self, name: &str) -> Option<u32> {
        let ended = [name.as_bytes(), &[0]].concat();
        let mut places = memmem::find_iter(self.names, &ended).take(bounds::CANDIDATES);
        let at = places.find(|at| at.checked_sub(1).is_none_or(|before| self.names.get(before) == Some(&0)))?;
        u32::try_from(at).ok()
    }

    fn malformed(&self, at: u64, what: &'static str) -> BinaryError {
        BinaryError::malformed(SECTION, self.table.offset.saturating_add(self.functions_at).saturating_add(at), what)
    }
}

/// The first eight bytes of a line table.
struct Start {
    magic: u32,
    quantum: u8,
}

impl Start {
    fn of(machine: Machine, minor: u32) -> Self {
        let quantum = match machine {
            Machine::X86_64 => 1,
            Machine::Arm64 => 4,
        };
        Self { magic: if minor < 20 { MAGIC_1_18 } else { MAGIC_1_20 }, quantum }
    }

    /// The magic, two zero bytes, the smallest instruction length, and the pointer size.
    fn bytes(&self) -> [u8; 8] {
        let [a, b, c, d] = self.magic.to_le_bytes();
        [a, b, c, d, 0, 0, self.quantum, POINTER_BYTES]
    }
}

/// Programs that read line tables have the magic in their code or strings. The first place with a consistent header is the table.
fn scanned<'a>(elf: &Elf<'a>, start: &Start) -> Result<LineTable<'a>, BinaryError> {
    for segment in elf.segments() {
        for at in memmem::find_iter(segment.bytes, &start.bytes()).take(bounds::CANDIDATES) {
            let address = u64::try_from(at).ok().and_then(|at| segment.address.checked_add(at));
            let table = address.filter(|address| address % 8 == 0).and_then(|address| elf.loaded(address));
            if let Some(found) = table.and_then(|table| LineTable::parse(table, start).ok()) {
                return Ok(found);
            }
        }
    }
    Err(BinaryError::malformed(SECTION, 0, "a Go program has one, but none is found"))
}
