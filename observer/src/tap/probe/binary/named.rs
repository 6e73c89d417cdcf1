//! Determines from the names in a shared library whether it may contain a TLS library. A process maps dozens of shared libraries,
//! and few of them contain a TLS library.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use memchr::memmem;
use object::LittleEndian;
use object::elf::{self, FileHeader64, SectionHeader64};
use object::pod::slice_from_all_bytes;
use object::read::elf::{FileHeader as _, SectionHeader as _};

use super::bounds;
use super::error::BinaryError;

const LITTLE: LittleEndian = LittleEndian;

/// Each library with OpenSSL's interface has a function whose name begins like this. Linkers may store a name as the end of a
/// longer one.
const NAME: &[u8] = b"SSL_write";
/// Number of bytes of names that are searched at once.
const STRETCH: usize = 64 << 10;

/// Whether a string table of the ELF file at `path` has the name of an OpenSSL function, because the file defines or calls it. Only
/// headers and string tables are read, and at most [`bounds::NAME_BYTES`] of the tables. The result is false for a library from
/// which these names were stripped.
///
/// # Errors
///
/// The file cannot be read, or is not a 64-bit ELF file.
pub fn names_tls_functions(path: &Path) -> Result<bool, BinaryError> {
    let unreadable = |source| BinaryError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let mut header = [0; size_of::<FileHeader64<LittleEndian>>()];
    file.read_exact_at(&mut header, 0).map_err(unreadable)?;
    let header = FileHeader64::<LittleEndian>::parse(header.as_slice())
        .ok()
        .ok_or(BinaryError::Unsupported("not a 64-bit little-endian ELF file"))?;
    let at = header.e_shoff.get(LITTLE);
    let malformed = |what| BinaryError::malformed("the section header table", at, what);
    let (sections, size) = (usize::from(header.e_shnum.get(LITTLE)), size_of::<SectionHeader64<LittleEndian>>());
    if sections > bounds::SECTIONS {
        return Err(malformed("it has too many entries"));
    }
    if sections > 0 && usize::from(header.e_shentsize.get(LITTLE)) != size {
        return Err(malformed("its entries have another size"));
    }
    let mut table = vec![0; sections * size];
    file.read_exact_at(&mut table, at).map_err(unreadable)?;
    let table: &[SectionHeader64<LittleEndian>] =
        slice_from_all_bytes(&table).ok().ok_or_else(|| malformed("it ends within an entry"))?;
    let mut stretch = vec![0; STRETCH];
    let mut left = bounds::NAME_BYTES;
    for names in table.iter().filter(|section| section.sh_type(LITTLE) == elf::SHT_STRTAB) {
        let length = names.sh_size(LITTLE).min(left);
        left -= length;
        if has_name(&file, names.sh_offset(LITTLE), length, &mut stretch).map_err(unreadable)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the name is among these bytes, as far as the file has them. They are read into `stretch` in pieces. Each piece keeps the
/// end of the one before, so that no match is lost.
fn has_name(file: &File, at: u64, length: u64, stretch: &mut [u8]) -> io::Result<bool> {
    let (mut read, mut kept) = (0, 0);
    while read < length {
        let room = stretch.len() - kept;
        let wanted = usize::try_from(length - read).map_or(room, |left| left.min(room));
        let Some(space) = stretch.get_mut(kept..kept + wanted) else { return Ok(false) };
        let came = file.read_at(space, at.saturating_add(read))?;
        if came == 0 {
            return Ok(false);
        }
        read += came as u64;
        let filled = kept + came;
        if memmem::find(stretch.get(..filled).unwrap_or_default(), NAME).is_some() {
            return Ok(true);
        }
        kept = filled.min(NAME.len() - 1);
        stretch.copy_within(filled - kept..filled, 0);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_and_foreign_files_are_refused() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        for length in [0, 4, 63, 64, 4_096, program.len() / 2] {
            std::fs::write(file.path(), &program[..length]).unwrap();
            let named = names_tls_functions(file.path());
            assert!(named.is_err(), "{length}: {named:?}");
        }
        std::fs::write(file.path(), vec![b'x'; 1 << 20]).unwrap();
        assert!(names_tls_functions(file.path()).is_err());
        assert!(names_tls_functions(Path::new("/no/such/library")).is_err());
    }

    #[test]
    fn name_is_found_across_chunks_only_within_its_table() {
        for before in (STRETCH - 2 * NAME.len()..STRETCH + NAME.len()).chain([0, 3 * STRETCH - 4]) {
            let file = tempfile::tempfile().unwrap();
            file.write_all_at(NAME, before as u64).unwrap();
            let length = (before + NAME.len()) as u64;
            let mut stretch = vec![0; STRETCH];
            assert!(has_name(&file, 0, length, &mut stretch).unwrap(), "{before}");
            assert!(!has_name(&file, 0, length - 1, &mut stretch).unwrap(), "{before}");
        }
    }

    /// A small file appears large if its tables overlap.
    #[test]
    fn searched_bytes_of_all_name_tables_are_bounded() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        program.truncate(size_of::<FileHeader64<LittleEndian>>());
        // Offset and number of the section headers.
        program[40..48].copy_from_slice(&64_u64.to_le_bytes());
        let sections = 16_000_u16;
        program[60..62].copy_from_slice(&sections.to_le_bytes());
        for section in 0..u64::from(sections) {
            let mut entry = [0_u8; 64];
            entry[4..8].copy_from_slice(&elf::SHT_STRTAB.0.to_le_bytes());
            entry[24..32].copy_from_slice(&(1_100_000 + section).to_le_bytes());
            entry[32..40].copy_from_slice(&(60_u64 << 20).to_le_bytes());
            program.extend(entry);
        }
        std::fs::write(file.path(), &program).unwrap();
        // After the part that is searched.
        file.as_file().write_all_at(NAME, 200 << 20).unwrap();
        assert!(!names_tls_functions(file.path()).unwrap());
        file.as_file().write_all_at(NAME, 50 << 20).unwrap();
        assert!(names_tls_functions(file.path()).unwrap());
    }
}
