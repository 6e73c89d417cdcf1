//! The parts of an ELF file that the search needs: loaded segments, and sections by name.
//!
//! It uses the program headers wherever it can, because a stripped file may lack section headers. Layout: System V gABI 4.1,
//! chapters 4 and 5, through the `object` crate.

use object::LittleEndian;
use object::elf::{self, FileHeader64, ProgramHeader64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, SectionTable};

use super::bounds;
use super::error::BinaryError;

const LITTLE: LittleEndian = LittleEndian;

/// The instruction set of a program.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Machine {
    X86_64,
    Arm64,
}

/// A part of the file that the loader maps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a> {
    /// Virtual address of the first byte, before relocation.
    pub(super) address: u64,
    /// Offset in the file of the first byte.
    pub(super) offset: u64,
    /// The bytes that the file has for it.
    pub(super) bytes: &'a [u8],
    pub(super) is_executable: bool,
}

/// A section, or a segment from some address to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch<'a> {
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) bytes: &'a [u8],
}

/// An ELF file with checked headers.
pub(super) struct Elf<'a> {
    bytes: &'a [u8],
    pub(super) machine: Machine,
    segments: Vec<Segment<'a>>,
    program_headers: &'a [ProgramHeader64<LittleEndian>],
    pub(super) sections: SectionTable<'a, FileHeader64<LittleEndian>>,
}

impl<'a> Elf<'a> {
    /// Reads the headers, and checks that segments lie in the file and that the sections are not too many.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, BinaryError> {
        let header = FileHeader64::<LittleEndian>::parse(bytes)
            .ok()
            .ok_or(BinaryError::Unsupported("not a 64-bit little-endian ELF file"))?;
        let machine = match header.e_machine.get(LITTLE) {
            elf::EM_X86_64 => Machine::X86_64,
            elf::EM_AARCH64 => Machine::Arm64,
            _ => return Err(BinaryError::Unsupported("its machine is neither x86-64 nor arm64")),
        };
        if !matches!(header.e_type.get(LITTLE), elf::ET_EXEC | elf::ET_DYN) {
            return Err(BinaryError::Unsupported("neither an executable nor a shared library"));
        }
        let at = header.e_phoff.get(LITTLE);
        let program_headers = header
            .program_headers(LITTLE, bytes)
            .ok()
            .ok_or_else(|| BinaryError::malformed("the program header table", at, "it does not lie in the file"))?;
        if program_headers.len() > bounds::SEGMENTS {
            return Err(BinaryError::malformed("the program header table", at, "it has too many entries"));
        }
        let loaded = program_headers.iter().filter(|header| header.p_type(LITTLE) == elf::PT_LOAD);
        let segments = loaded.map(|header| segment(header, bytes)).collect::<Result<_, _>>()?;
        Ok(Self { bytes, machine, segments, program_headers, sections: sections(header, bytes)? })
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn segments(&self) -> &[Segment<'a>] {
        &self.segments
    }

    /// The bytes of the first program header of a type, if the file has them.
    pub(super) fn of_type(&self, kind: u32) -> Option<Stretch<'a>> {
        let header = self.program_headers.iter().find(|header| header.p_type(LITTLE).0 == kind)?;
        let bytes = header.data(LITTLE, self.bytes).ok()?;
        Some(Stretch { address: header.p_vaddr(LITTLE), offset: header.p_offset(LITTLE), bytes })
    }

    /// The first section with that name, if the file has its bytes.
    pub(super) fn section(&self, name: &str) -> Option<Stretch<'a>> {
        let (_, header) = self.sections.section_by_name(LITTLE, name.as_bytes())?;
        let bytes = header.data(LITTLE, self.bytes).ok()?;
        Some(Stretch { address: header.sh_addr(LITTLE), offset: header.sh_offset(LITTLE), bytes })
    }

    /// The loaded bytes from `address` to the end of its segment.
    pub(super) fn loaded(&self, address: u64) -> Option<Stretch<'a>> {
        stretch(self.segments.iter(), address)
    }

    /// As [`Self::loaded`], if the address is in an executable segment.
    pub(super) fn code(&self, address: u64) -> Option<Stretch<'a>> {
        stretch(self.segments.iter().filter(|segment| segment.is_executable), address)
    }
}

impl Stretch<'_> {
    /// Its first `length` bytes.
    pub(super) fn first(self, length: u64) -> Option<Self> {
        let bytes = self.bytes.get(..usize::try_from(length).ok()?)?;
        Some(Self { bytes, ..self })
    }
}

/// The little-endian 4-byte number at an offset.
pub(super) fn u32_at(bytes: &[u8], at: u64) -> Option<u32> {
    let four = bytes.get(usize::try_from(at).ok()?..)?.first_chunk()?;
    Some(u32::from_le_bytes(*four))
}

/// The little-endian 8-byte number at an offset.
pub(super) fn u64_at(bytes: &[u8], at: u64) -> Option<u64> {
    let eight = bytes.get(usize::try_from(at).ok()?..)?.first_chunk()?;
    Some(u64::from_le_bytes(*eight))
}

fn segment<'a>(header: &ProgramHeader64<LittleEndian>, file: &'a [u8]) -> Result<Segment<'a>, BinaryError> {
    let offset = header.p_offset(LITTLE);
    let bytes = header
        .data(LITTLE, file)
        .map_err(|()| BinaryError::malformed("a segment", offset, "it does not lie in the file; the file is cut off"))?;
    let address = header.p_vaddr(LITTLE);
    if address.checked_add(header.p_memsz(LITTLE)).is_none() {
        return Err(BinaryError::malformed("a segment", offset, "it ends after the last address"));
    }
    let is_executable = header.p_flags(LITTLE).contains(elf::PF_X);
    Ok(Segment { address, offset, bytes, is_executable })
}

fn sections<'a>(
    header: &FileHeader64<LittleEndian>,
    bytes: &'a [u8],
) -> Result<SectionTable<'a, FileHeader64<LittleEndian>>, BinaryError> {
    let malformed = |what| BinaryError::malformed("the section header table", header.e_shoff.get(LITTLE), what);
    let sections = header.sections(LITTLE, bytes).ok().ok_or_else(|| malformed("it does not lie in the file"))?;
    if sections.len() > bounds::SECTIONS {
        return Err(malformed("it has too many entries"));
    }
    Ok(sections)
}

fn stretch<'s, 'a: 's>(mut segments: impl Iterator<Item = &'s Segment<'a>>, address: u64) -> Option<Stretch<'a>> {
    segments.find_map(|segment| {
        let within = address.checked_sub(segment.address)?;
        let bytes = segment.bytes.get(usize::try_from(within).ok()?..).filter(|bytes| !bytes.is_empty())?;
        Some(Stretch { address, offset: segment.offset.checked_add(within)?, bytes })
    })
}
