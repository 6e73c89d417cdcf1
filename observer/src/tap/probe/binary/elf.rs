//! The parts of an ELF file that the search needs: loaded segments, and sections by name.
//!
//! It uses the program headers wherever it can, because a stripped file may lack section headers. Layout: System V gABI 4.1,
//! chapters 4 and 5, through the `object` crate.

use object::LittleEndian;
use object::elf::{self, FileHeader64, ProgramHeader64, SectionHeader64};
use object::pod::{Pod, slice_from_all_bytes};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

use super::bounds;
use super::error::BinaryError;
use super::program_bytes::ProgramBytes;

const LITTLE: LittleEndian = LittleEndian;

/// The instruction set of a program.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Machine {
    X86_64,
    Arm64,
}

/// A part of the file that the loader maps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// The bytes that the file has for it.
    pub(super) extent: Extent,
    pub(super) is_executable: bool,
    pub(super) is_writable: bool,
}

/// The place of a section, a segment or a part of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Virtual address of the first byte, before relocation.
    pub(super) address: u64,
    /// Offset in the file of the first byte.
    pub(super) offset: u64,
    /// In bytes.
    pub(super) length: u64,
}

/// An extent with its bytes.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

/// A section of the file.
#[derive(Clone, Debug)]
pub(super) struct Section {
    name: Vec<u8>,
    /// `sh_type`.
    pub(super) kind: elf::SectionType,
    /// The number of the section that it refers to.
    pub(super) link: usize,
    pub(super) extent: Extent,
}

/// An ELF file with checked headers.
pub(super) struct Elf<'a> {
    bytes: ProgramBytes<'a>,
    pub(super) machine: Machine,
    segments: Vec<Segment>,
    program_headers: Vec<ProgramHeader64<LittleEndian>>,
    pub(super) sections: Vec<Section>,
}

impl<'a> Elf<'a> {
    /// Reads the headers, and checks that segments lie in the file and that the sections are not too many.
    pub(super) fn parse(bytes: ProgramBytes<'a>) -> Result<Self, BinaryError> {
        const FOREIGN: BinaryError = BinaryError::Unsupported("not a 64-bit little-endian ELF file");
        let header = bytes.piece(0, size_of::<FileHeader64<LittleEndian>>() as u64).ok_or(FOREIGN)?;
        let header = FileHeader64::<LittleEndian>::parse(header.as_slice()).ok().ok_or(FOREIGN)?;
        let machine = match header.e_machine.get(LITTLE) {
            elf::EM_X86_64 => Machine::X86_64,
            elf::EM_AARCH64 => Machine::Arm64,
            _ => return Err(BinaryError::Unsupported("its machine is neither x86-64 nor arm64")),
        };
        if !matches!(header.e_type.get(LITTLE), elf::ET_EXEC | elf::ET_DYN) {
            return Err(BinaryError::Unsupported("neither an executable nor a shared library"));
        }
        let program_headers = program_headers(header, bytes)?;
        let loaded = program_headers.iter().filter(|header| header.p_type(LITTLE) == elf::PT_LOAD);
        let segments = loaded.map(|header| segment(header, bytes)).collect::<Result<_, _>>()?;
        let sections = sections(header, bytes)?;
        Ok(Self { bytes, machine, segments, program_headers, sections })
    }

    pub(super) const fn bytes(&self) -> ProgramBytes<'a> {
        self.bytes
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The first program header of a type, if the file has its bytes.
    pub(super) fn of_type(&self, kind: u32) -> Option<Extent> {
        let header = self.program_headers.iter().find(|header| header.p_type(LITTLE).0 == kind)?;
        let (offset, length) = (header.p_offset(LITTLE), header.p_filesz(LITTLE));
        self.bytes.has(offset, length).then_some(Extent { address: header.p_vaddr(LITTLE), offset, length })
    }

    /// The first section with that name, if the file has its bytes.
    pub(super) fn section(&self, name: &str) -> Option<Extent> {
        let section = self.sections.iter().find(|section| section.name == name.as_bytes())?;
        let Extent { offset, length, .. } = section.extent;
        self.bytes.has(offset, length).then_some(section.extent)
    }

    /// The loaded bytes from `address` to the end of its segment.
    pub(super) fn loaded(&self, address: u64) -> Option<Extent> {
        rest(self.segments.iter(), address)
    }

    /// As [`Self::loaded`], if the address is in an executable segment.
    pub(super) fn code(&self, address: u64) -> Option<Extent> {
        rest(self.segments.iter().filter(|segment| segment.is_executable), address)
    }

    /// Reads an extent, of at most [`bounds::PIECE_BYTES`].
    pub(super) fn read(&self, extent: Extent) -> Option<Stretch> {
        let bytes = self.bytes.piece(extent.offset, extent.length)?;
        Some(Stretch { address: extent.address, offset: extent.offset, bytes })
    }
}

impl Extent {
    /// Its first `length` bytes.
    pub(super) fn first(self, length: u64) -> Option<Self> {
        (length <= self.length).then_some(Self { length, ..self })
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

fn program_headers(
    header: &FileHeader64<LittleEndian>,
    bytes: ProgramBytes<'_>,
) -> Result<Vec<ProgramHeader64<LittleEndian>>, BinaryError> {
    let at = header.e_phoff.get(LITTLE);
    let malformed = |what| BinaryError::malformed("the program header table", at, what);
    let count = usize::from(header.e_phnum.get(LITTLE));
    if count > bounds::SEGMENTS {
        return Err(malformed("it has too many entries"));
    }
    let size = usize::from(header.e_phentsize.get(LITTLE));
    table(bytes, at, count, size).ok_or_else(|| malformed("it does not lie in the file"))
}

fn segment(header: &ProgramHeader64<LittleEndian>, file: ProgramBytes<'_>) -> Result<Segment, BinaryError> {
    let (offset, length) = (header.p_offset(LITTLE), header.p_filesz(LITTLE));
    if !file.has(offset, length) {
        return Err(BinaryError::malformed("a segment", offset, "it does not lie in the file; the file is cut off"));
    }
    let address = header.p_vaddr(LITTLE);
    if address.checked_add(header.p_memsz(LITTLE)).is_none() {
        return Err(BinaryError::malformed("a segment", offset, "it ends after the last address"));
    }
    let is = |flag| header.p_flags(LITTLE).contains(flag);
    Ok(Segment { extent: Extent { address, offset, length }, is_executable: is(elf::PF_X), is_writable: is(elf::PF_W) })
}

fn sections(header: &FileHeader64<LittleEndian>, bytes: ProgramBytes<'_>) -> Result<Vec<Section>, BinaryError> {
    let at = header.e_shoff.get(LITTLE);
    let malformed = |what| BinaryError::malformed("the section header table", at, what);
    let count = usize::from(header.e_shnum.get(LITTLE));
    if at == 0 || count == 0 {
        return Ok(Vec::new());
    }
    if count > bounds::SECTIONS {
        return Err(malformed("it has too many entries"));
    }
    let size = usize::from(header.e_shentsize.get(LITTLE));
    let headers: Vec<SectionHeader64<LittleEndian>> =
        table(bytes, at, count, size).ok_or_else(|| malformed("it does not lie in the file"))?;
    let names = headers.get(usize::from(header.e_shstrndx.get(LITTLE).0));
    let names = names.and_then(|names| bytes.piece(names.sh_offset(LITTLE), names.sh_size(LITTLE).min(bounds::PIECE_BYTES)));
    let names = names.unwrap_or_default();
    Ok(headers.iter().map(|header| section(header, &names)).collect())
}

fn section(header: &SectionHeader64<LittleEndian>, names: &[u8]) -> Section {
    let name = usize::try_from(header.sh_name(LITTLE)).ok().and_then(|at| names.get(at..)).unwrap_or_default();
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
    let kind = header.sh_type(LITTLE);
    let length = if kind == elf::SHT_NOBITS { 0 } else { header.sh_size(LITTLE) };
    let extent = Extent { address: header.sh_addr(LITTLE), offset: header.sh_offset(LITTLE), length };
    Section { name, kind, link: usize::try_from(header.sh_link(LITTLE)).unwrap_or(usize::MAX), extent }
}

/// A table of headers, whose entries must have the usual size.
fn table<T: Pod>(bytes: ProgramBytes<'_>, at: u64, count: usize, size: usize) -> Option<Vec<T>> {
    if count > 0 && size != size_of::<T>() {
        return None;
    }
    let piece = bytes.piece(at, (count * size_of::<T>()) as u64)?;
    Some(slice_from_all_bytes(&piece).ok()?.to_vec())
}

fn rest<'s>(mut segments: impl Iterator<Item = &'s Segment>, address: u64) -> Option<Extent> {
    segments.find_map(|Segment { extent, .. }| {
        let within = address.checked_sub(extent.address)?;
        let length = extent.length.checked_sub(within).filter(|length| *length > 0)?;
        Some(Extent { address, offset: extent.offset.checked_add(within)?, length })
    })
}
