//! Functions by name, in the dynamic and the full symbol table.

use object::LittleEndian;
use object::elf::{FileHeader64, SHT_DYNSYM, SHT_SYMTAB, STT_FUNC, SectionHeader64};
use object::read::elf::{SectionHeader, Sym, SymbolTable};

use super::bounds;
use super::elf::Elf;
use super::error::BinaryError;

const LITTLE: LittleEndian = LittleEndian;

/// A function in a symbol table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct FunctionSymbol {
    pub(super) address: u64,
    /// In bytes; zero if the table does not state it.
    pub(super) length: u64,
}

/// All symbol tables of a file.
pub(super) struct Symbols<'a> {
    tables: Vec<SymbolTable<'a, FileHeader64<LittleEndian>>>,
}

impl<'a> Symbols<'a> {
    pub(super) fn of(elf: &Elf<'a>) -> Result<Self, BinaryError> {
        let sections = elf.sections.enumerate().filter(|(_, header)| is_symbol_table(header));
        let tables = sections.map(|(index, header)| {
            let malformed = |what| BinaryError::malformed("a symbol table", header.sh_offset(LITTLE), what);
            let table = elf
                .sections
                .symbol_table_by_index(LITTLE, elf.bytes(), index)
                .ok()
                .ok_or_else(|| malformed("it does not lie in the file"))?;
            if table.len() > bounds::SYMBOLS { Err(malformed("it has too many entries")) } else { Ok(table) }
        });
        Ok(Self { tables: tables.collect::<Result<_, _>>()? })
    }

    /// The functions with these names that the file defines, in the same order.
    pub(super) fn functions(&self, wanted: &[&str]) -> Vec<Option<FunctionSymbol>> {
        let mut found = vec![None; wanted.len()];
        for (name, function) in self.all() {
            let which = wanted.iter().position(|wanted| wanted.as_bytes() == name);
            if let Some(place) = which.and_then(|which| found.get_mut(which)) {
                place.get_or_insert(function);
            }
        }
        found
    }

    /// Whether the name of any function symbol contains `part`.
    pub(super) fn any_contains(&self, part: &[u8]) -> bool {
        let finder = memchr::memmem::Finder::new(part);
        self.all().any(|(name, _)| finder.find(name).is_some())
    }

    fn all(&self) -> impl Iterator<Item = (&'a [u8], FunctionSymbol)> {
        self.tables.iter().flat_map(|table| {
            let defined = table.iter().filter(|symbol| symbol.st_type() == STT_FUNC && !symbol.is_undefined(LITTLE));
            defined.filter_map(|symbol| {
                let name = symbol.name(LITTLE, table.strings()).ok()?;
                Some((name, FunctionSymbol { address: symbol.st_value(LITTLE), length: symbol.st_size(LITTLE) }))
            })
        })
    }
}

fn is_symbol_table(header: &SectionHeader64<LittleEndian>) -> bool {
    let kind = header.sh_type(LITTLE);
    kind == SHT_DYNSYM || kind == SHT_SYMTAB
}
