//! Whether a shared library may contain a TLS library, by a look at the names in it: any program maps dozens, and few do.

use std::fs::File;
use std::path::Path;

use memchr::memmem;
use object::elf::{self, FileHeader64};
use object::read::ReadCache;
use object::read::elf::{FileHeader as _, SectionHeader as _};
use object::{LittleEndian, ReadRef as _};

use super::bounds;
use super::error::BinaryError;

const LITTLE: LittleEndian = LittleEndian;

/// All that is like OpenSSL has a function whose name begins so. Linkers may keep a name as the end of a longer one.
const NAME: &[u8] = b"SSL_write";

/// Whether a string table of the ELF file at `path` has the name of a function of OpenSSL, which is so where it defines it and where it calls it. Only headers and these
/// tables are read, of at most [`bounds::NAME_BYTES`] each: a library that was stripped of the names of what it contains has none, and neither has one with more names than that.
///
/// # Errors
///
/// A file that cannot be read, or is no ELF file of 64 bits.
pub fn names_tls_functions(path: &Path) -> Result<bool, BinaryError> {
    let file = File::open(path).map_err(|source| BinaryError::Unreadable { path: path.to_owned(), source })?;
    let cache = ReadCache::new(file);
    let header =
        FileHeader64::<LittleEndian>::parse(&cache).ok().ok_or(BinaryError::Unsupported("not a 64-bit little-endian ELF file"))?;
    let malformed = |what| BinaryError::malformed("the section header table", header.e_shoff.get(LITTLE), what);
    let sections = header.section_headers(LITTLE, &cache).ok().ok_or_else(|| malformed("it does not lie in the file"))?;
    if sections.len() > bounds::SECTIONS {
        return Err(malformed("it has too many entries"));
    }
    let mut tables = sections.iter().filter(|section| section.sh_type(LITTLE) == elf::SHT_STRTAB);
    Ok(tables.any(|table| {
        let (begin, length) = (table.sh_offset(LITTLE), table.sh_size(LITTLE));
        // Each is read once; the cache would keep it.
        length <= bounds::NAME_BYTES && (&cache).read_bytes_at(begin, length).is_ok_and(|names| memmem::find(names, NAME).is_some())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_that_defines_or_calls_functions_of_openssl_names_them_and_others_do_not() {
        let said = std::process::Command::new("python3")
            .args(["-c", "import _ssl, _json; print(_ssl.__file__); print(_json.__file__)"])
            .output()
            .unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let [tls, other] = said.lines().collect::<Vec<_>>()[..] else { panic!("{said}") };
        assert!(names_tls_functions(Path::new(tls)).unwrap());
        assert!(!names_tls_functions(Path::new(other)).unwrap());
    }

    #[test]
    fn what_is_cut_off_or_no_library_is_refused_or_names_nothing() {
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        for length in [0, 4, 63, 64, 4_096, whole.len() / 2] {
            std::fs::write(file.path(), &whole[..length]).unwrap();
            let named = names_tls_functions(file.path());
            assert!(named.is_err(), "{length}: {named:?}");
        }
        assert!(names_tls_functions(Path::new("/no/such/library")).is_err());
    }
}
