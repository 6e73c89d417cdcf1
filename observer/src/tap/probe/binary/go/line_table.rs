//! Go's line table (`.gopclntab`): the names and starts of functions.
//!
//! Layout: Go `src/runtime/symtab.go` (`pcHeader`, `functab`) and `src/runtime/runtime2.go` (`_func`), 1.18 to 1.27.

use crate::tap::probe::binary::bounds;
use crate::tap::probe::binary::elf::{Elf, Extent, Machine, Segment, u64_at};
use crate::tap::probe::binary::error::BinaryError;
use crate::tap::probe::binary::program_bytes::{ProgramBytes, Window};

const SECTION: &str = ".gopclntab";

/// Names of the section in ordinary programs, and in position-independent and older externally linked ones.
const NAMES: &[&str] = &[SECTION, ".data.rel.ro.gopclntab"];

/// `abi.Go118PCLnTabMagic`: Go 1.18 and 1.19.
const MAGIC_1_18: u32 = 0xffff_fff0;
/// `abi.Go120PCLnTabMagic`: Go 1.20 and later.
const MAGIC_1_20: u32 = 0xffff_fff1;

const POINTER_BYTES: u8 = 8;
const HEADER_BYTES: u64 = 72;

/// Each of the searched names contains one of these.
const ANCHORS: &[&str] = &["crypto/tls.(*Conn).", "http2"];

/// A line table with a checked header.
pub(super) struct LineTable<'a> {
    bytes: ProgramBytes<'a>,
    table: Extent,
    functions: u64,
    names_at: u64,
    names_length: u64,
    functions_at: u64,
    /// Offsets of the first function and of the end of the last one.
    code: (u64, u64),
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
                return Self::parse(elf.bytes(), table, &start);
            }
        }
        scanned(elf, &start)
    }

    fn parse(bytes: ProgramBytes<'a>, table: Extent, start: &Start) -> Result<Self, BinaryError> {
        let malformed = |at: u64, what| BinaryError::malformed(SECTION, table.offset.saturating_add(at), what);
        let header = bytes.piece(table.offset, table.length.min(HEADER_BYTES)).unwrap_or_default();
        if !header.starts_with(&start.bytes()) {
            return Err(malformed(0, "its header is not that of the Go release that the program names"));
        }
        let word = |at| u64_at(&header, at).ok_or_else(|| malformed(at, "its header is cut off"));
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
        let end =
            end.filter(|end| *end <= table.length).ok_or_else(|| malformed(8, "it is shorter than its number of functions"))?;
        let number = |at: u64| {
            let piece = bytes.piece(table.offset.checked_add(at)?, 4)?;
            piece.first_chunk().map(|four| u64::from(u32::from_le_bytes(*four)))
        };
        let code = number(functions_at).zip(number(end.saturating_sub(4)));
        let code = code.ok_or_else(|| malformed(8, "it cannot be read"))?;
        Ok(Self { bytes, table, functions, names_at, names_length: units_at.saturating_sub(names_at), functions_at, code })
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
    pub(super) fn code_range(&self) -> (u64, u64) {
        self.code
    }

    /// Locates the functions of these names, in the same order; `None` for a name that no function has.
    ///
    /// The names are looked up first; one pass over the functions then compares numbers. So the cost hardly grows with the number
    /// of names: 80 000 functions take a few milliseconds. The pass reads in chunks, because the linker writes the records in the
    /// order of the functions.
    pub(super) fn locate(&self, wanted: &[&'static str]) -> Result<Vec<Option<Located>>, BinaryError> {
        let numbers = self.name_numbers(wanted);
        let mut located = vec![None; wanted.len()];
        if numbers.iter().all(Option::is_none) {
            return Ok(located);
        }
        let window = || Window::new(self.bytes, self.table.offset, self.table.offset.saturating_add(self.table.length));
        let (mut index, mut records) = (window(), window());
        for function in 0..self.functions {
            let at = function.saturating_mul(8);
            let (start, record, next) =
                self.entry(&mut index, at).ok_or_else(|| self.malformed(at, "an entry for a function is cut off"))?;
            let (recorded, name) =
                self.record(&mut records, record).ok_or_else(|| self.malformed(at, "a function has no record"))?;
            let Some(which) = numbers.iter().position(|number| *number == Some(name)) else { continue };
            let length = next.checked_sub(start).filter(|_| start == recorded);
            let length = length.ok_or_else(|| self.malformed(at, "a function's start contradicts its record"))?;
            let found = Located { start: u64::from(start), length: u64::from(length) };
            if let Some(place) = located.get_mut(which)
                && place.replace(found).is_some()
            {
                return Err(self.malformed(at, "two functions have the same name"));
            }
        }
        Ok(located)
    }

    /// A function's start, the offset of its record, and the start of the next function. The entry after the last function is the
    /// end of the code.
    fn entry(&self, index: &mut Window<'_>, at: u64) -> Option<(u32, u32, u32)> {
        let [start, record, next] = numbers(index.at::<12>(self.functions_at.checked_add(at)?)?);
        Some((start, record, next))
    }

    /// The start and the name in a function's record.
    fn record(&self, records: &mut Window<'_>, record: u32) -> Option<(u32, u32)> {
        let at = self.functions_at.checked_add(u64::from(record))?;
        let [start, name, _] = numbers(records.at::<12>(at)?);
        Some((start, name))
    }

    /// The offsets of names, by which records refer to them.
    fn name_numbers(&self, wanted: &[&'static str]) -> Vec<Option<u32>> {
        let mut found = vec![None; wanted.len()];
        let names_at = self.table.offset.saturating_add(self.names_at);
        for anchor in ANCHORS {
            self.bytes.find_names(names_at, self.names_length, anchor, wanted, |at, which, before| {
                if before == 0
                    && let Some(place) = found.get_mut(which)
                    && let Ok(number) = u32::try_from(at - names_at)
                {
                    place.get_or_insert(number);
                }
            });
        }
        found
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

/// Three little-endian numbers.
fn numbers(bytes: [u8; 12]) -> [u32; 3] {
    let (numbers, _) = bytes.as_chunks::<4>();
    std::array::from_fn(|at| numbers.get(at).map_or(0, |number| u32::from_le_bytes(*number)))
}

/// Programs that read line tables have the magic in their code or strings. The first place with a consistent header is the table.
fn scanned<'a>(elf: &Elf<'a>, start: &Start) -> Result<LineTable<'a>, BinaryError> {
    let found = elf.segments().iter().find_map(|Segment { extent, .. }| {
        let mut candidates = 0;
        let found = elf.bytes().find(extent.offset, extent.length, &start.bytes(), |at| {
            candidates += 1;
            let address = extent.address.checked_add(at.checked_sub(extent.offset)?);
            let table = address.filter(|address| address % 8 == 0).and_then(|address| elf.loaded(address));
            let found = table.and_then(|table| LineTable::parse(elf.bytes(), table, start).ok());
            found.map(Some).or((candidates == bounds::CANDIDATES).then_some(None))
        });
        found.flatten()
    });
    found.ok_or_else(|| BinaryError::malformed(SECTION, 0, "a Go program has one, but none is found"))
}
