//! A program's symbols, read with another part of the `object` crate than the product uses.

use std::ops::Range;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSegment, ObjectSymbol};

/// A file and its content.
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// The location of a function.
pub(crate) struct Symbol {
    pub(crate) addresses: Range<u64>,
    /// File offset minus address.
    shift: i64,
}

impl Program {
    pub(crate) fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path: path.to_owned(), bytes }
    }

    /// The function with this name, from the symbol table or the dynamic symbol table.
    pub(crate) fn symbol(&self, name: &str) -> Option<Symbol> {
        let file = object::File::parse(&*self.bytes).unwrap();
        let all = file.symbols().chain(file.dynamic_symbols());
        let symbol = all.filter(ObjectSymbol::is_definition).find(|symbol| symbol.name() == Ok(name))?;
        let addresses = symbol.address()..symbol.address() + symbol.size();
        let segment =
            file.segments().find(|segment| (segment.address()..segment.address() + segment.size()).contains(&addresses.start))?;
        Some(Symbol { addresses, shift: segment.file_range().0.cast_signed() - segment.address().cast_signed() })
    }
}

impl Symbol {
    pub(crate) fn offset(&self, address: u64) -> u64 {
        address.checked_add_signed(self.shift).unwrap()
    }

    pub(crate) fn offsets(&self) -> Range<u64> {
        self.offset(self.addresses.start)..self.offset(self.addresses.end)
    }
}
