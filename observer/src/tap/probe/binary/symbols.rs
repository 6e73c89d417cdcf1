//! Functions by name, in the dynamic and the full symbol table.
//!
//! The names are searched first. Then the symbols are compared with the places of the names found, so no table is held in memory.

use object::LittleEndian;
use object::elf::{SHN_UNDEF, SHT_DYNSYM, SHT_SYMTAB, STT_FUNC, Sym64};
use object::pod::from_bytes;
use object::read::elf::Sym;

use super::bounds;
use super::elf::{Elf, Extent, Section};
use super::error::BinaryError;

const LITTLE: LittleEndian = LittleEndian;
const SYMBOL_BYTES: usize = size_of::<Sym64<LittleEndian>>();

/// A function in a symbol table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct FunctionSymbol {
    pub(super) address: u64,
    /// In bytes; zero if the table does not state it.
    pub(super) length: u64,
}

/// All symbol tables of a file.
pub(super) struct Symbols<'e, 'a> {
    elf: &'e Elf<'a>,
    tables: Vec<Table>,
}

struct Table {
    symbols: Extent,
    names: Extent,
}

impl<'e, 'a> Symbols<'e, 'a> {
    pub(super) fn of(elf: &'e Elf<'a>) -> Result<Self, BinaryError> {
        let sections = elf.sections.iter().filter(|section| section.kind == SHT_DYNSYM || section.kind == SHT_SYMTAB);
        Ok(Self { elf, tables: sections.map(|section| table(elf, section)).collect::<Result<_, _>>()? })
    }

    /// The functions with these names that the file defines, in the same order. Each name begins with `prefix`.
    pub(super) fn functions(&self, prefix: &str, wanted: &[&str]) -> Vec<Option<FunctionSymbol>> {
        let mut found = vec![None; wanted.len()];
        for table in &self.tables {
            let names = self.places(table.names, prefix, wanted);
            if names.is_empty() {
                continue;
            }
            self.each_function(table.symbols, |name, function| {
                let which = names.iter().find(|(place, _)| *place == name).map(|(_, which)| *which);
                if let Some(place) = which.and_then(|which| found.get_mut(which)) {
                    place.get_or_insert(function);
                }
            });
        }
        found
    }

    /// Whether the names of any symbol table contain `part`.
    pub(super) fn any_contains(&self, part: &[u8]) -> bool {
        self.tables.iter().any(|Table { names, .. }| self.elf.bytes().find(names.offset, names.length, part, Some).is_some())
    }

    /// Where the table of names has the wanted ones, with their numbers. Linkers may store a name as the end of a longer one.
    fn places(&self, names: Extent, prefix: &str, wanted: &[&str]) -> Vec<(u64, usize)> {
        let mut places = Vec::new();
        self.elf.bytes().find_names(names.offset, names.length, prefix, wanted, |at, which, _| {
            let place = (at - names.offset, which);
            if places.len() < bounds::CANDIDATES && !places.contains(&place) {
                places.push(place);
            }
        });
        places
    }

    /// Passes the place of each defined function's name, and the function.
    fn each_function(&self, symbols: Extent, mut each: impl FnMut(u64, FunctionSymbol)) {
        let mut next = symbols.offset;
        self.elf.bytes().chunks(symbols.offset, symbols.length, SYMBOL_BYTES, |at, chunk| {
            let passed = usize::try_from(next.saturating_sub(at)).unwrap_or(usize::MAX);
            for bytes in chunk.get(passed..).unwrap_or_default().chunks_exact(SYMBOL_BYTES) {
                next += SYMBOL_BYTES as u64;
                let Ok((symbol, _)) = from_bytes::<Sym64<LittleEndian>>(bytes) else { continue };
                if symbol.st_type() == STT_FUNC && symbol.st_shndx(LITTLE) != SHN_UNDEF {
                    let function = FunctionSymbol { address: symbol.st_value(LITTLE), length: symbol.st_size(LITTLE) };
                    each(u64::from(symbol.st_name(LITTLE)), function);
                }
            }
            None::<()>
        });
    }
}

fn table(elf: &Elf<'_>, section: &Section) -> Result<Table, BinaryError> {
    let malformed = |what| BinaryError::malformed("a symbol table", section.extent.offset, what);
    let is_there = |extent: &Extent| elf.bytes().has(extent.offset, extent.length);
    let names = elf.sections.get(section.link).map(|names| names.extent).filter(is_there);
    let names = names.filter(|_| is_there(&section.extent)).ok_or_else(|| malformed("it does not lie in the file"))?;
    if section.extent.length > bounds::SYMBOLS.saturating_mul(SYMBOL_BYTES) as u64 {
        return Err(malformed("it has too many entries"));
    }
    Ok(Table { symbols: section.extent, names })
}
