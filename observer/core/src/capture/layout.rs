//! The fixed parts of a file: its head and the heads of its blocks. All numbers are little-endian.

use flate2::Crc;

use crate::time::Timestamp;

/// First bytes of every capture. A transfer in text mode changes the first byte or the line end, so such damage is detected.
pub const MAGIC: [u8; 8] = *b"\x89wtcap\r\n";
/// Version of the file format. It rises when an earlier reader would misread a file, but not for additions that it may skip.
pub const VERSION: u16 = 1;
/// First bytes of every block. After damage, a reader resumes where it finds them.
pub(super) const SYNC: [u8; 4] = [0xC5, b'b', b'l', b'k'];
/// Length of a block's head, in bytes.
pub(super) const BLOCK_HEAD: usize = 52;
/// Maximum length of a block's lines before deflating, in bytes.
pub(super) const MAX_RAW: usize = 1 << 20;
/// Maximum length of a deflated block, in bytes: with the fixed codes of deflate, a byte takes at most nine bits.
pub(super) const MAX_PACKED: usize = MAX_RAW + MAX_RAW / 4;
/// Length of a file's head in this version, in bytes.
const FILE_HEAD: u16 = 44;
/// Longest head of any version, in bytes.
const MAX_FILE_HEAD: usize = 4096;
/// Length of the fields that every version has: magic, version and length of the head.
const COMMON: usize = MAGIC.len() + 4;

/// Head of a capture file: which part of which capture it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHead {
    /// Start of the capture; all its parts share it.
    pub capture: Timestamp,
    /// Number of this part in its capture, from 0.
    pub part: u32,
    /// Number of observations in the parts before it.
    pub first: u64,
    /// Time of the latest observation before it; in part 0, the start of the capture.
    pub at: Timestamp,
}

/// Result of reading the first bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// More bytes are needed.
    Incomplete,
    /// A head that this version reads, and its length in bytes.
    Head(FileHead, usize),
    /// A head of a later version.
    Newer(u16),
    /// A head whose checksum is wrong.
    Damaged,
    /// Not a capture.
    Foreign,
}

impl FileHead {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(FILE_HEAD.to_le_bytes());
        out.extend(self.part.to_le_bytes());
        out.extend(self.first.to_le_bytes());
        out.extend(self.capture.as_nanos().to_le_bytes());
        out.extend(self.at.as_nanos().to_le_bytes());
        out.extend(checksum(out.get(begin..).unwrap_or_default()).to_le_bytes());
    }

    pub(super) fn read(bytes: &[u8]) -> Beginning {
        if !bytes.iter().zip(MAGIC).all(|(byte, magic)| *byte == magic) {
            return Beginning::Foreign;
        }
        let mut fields = Fields(bytes.get(MAGIC.len()..).unwrap_or_default());
        let (Some(version), Some(length)) = (fields.u16(), fields.u16().map(usize::from)) else { return Beginning::Incomplete };
        if !(COMMON + 4..=MAX_FILE_HEAD).contains(&length) {
            return Beginning::Damaged;
        }
        let Some((covered, stored)) = bytes.get(..length).and_then(<[u8]>::split_last_chunk) else { return Beginning::Incomplete };
        if checksum(covered) != u32::from_le_bytes(*stored) {
            return Beginning::Damaged;
        }
        if version > VERSION {
            return Beginning::Newer(version);
        }
        Self::fields(&mut fields).map_or(Beginning::Damaged, |head| Beginning::Head(head, length))
    }

    fn fields(fields: &mut Fields<'_>) -> Option<Self> {
        Some(Self { part: fields.u32()?, first: fields.u64()?, capture: fields.time()?, at: fields.time()? })
    }
}

/// Content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// Observations that restate what is open at the beginning of a later part.
    Restated,
    /// Recorded observations, in order.
    Observations,
    /// No lines: the capture ends here.
    Complete,
    /// No lines: the capture continues in the next part.
    Continues,
    /// A kind of a later version, which a reader skips.
    Other(u8),
}

impl BlockKind {
    const fn code(self) -> u8 {
        match self {
            Self::Restated => 1,
            Self::Observations => 2,
            Self::Complete => 3,
            Self::Continues => 4,
            Self::Other(code) => code,
        }
    }

    const fn of(code: u8) -> Self {
        match code {
            1 => Self::Restated,
            2 => Self::Observations,
            3 => Self::Complete,
            4 => Self::Continues,
            code => Self::Other(code),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHead {
    pub(super) kind: BlockKind,
    /// Length of the deflated lines that follow this head, in bytes.
    pub(super) packed: usize,
    /// Length of the inflated lines, in bytes.
    pub(super) raw: usize,
    /// Number of observations before this block, over all parts.
    pub(super) first: u64,
    /// Number of lines in the block.
    pub(super) count: u32,
    /// Time of its first observation.
    pub(super) from: Timestamp,
    /// Latest time of its observations.
    pub(super) until: Timestamp,
    /// CRC-32 of the deflated lines.
    pub(super) checksum: u32,
}

impl BlockHead {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend(SYNC);
        out.extend([self.kind.code(), 0, 0, 0]);
        // The writer bounds both far below 2^32.
        out.extend(u32::try_from(self.packed).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(u32::try_from(self.raw).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(self.first.to_le_bytes());
        out.extend(self.count.to_le_bytes());
        out.extend(self.from.as_nanos().to_le_bytes());
        out.extend(self.until.as_nanos().to_le_bytes());
        out.extend(self.checksum.to_le_bytes());
        out.extend(checksum(out.get(begin..).unwrap_or_default()).to_le_bytes());
    }

    /// `None` when `bytes` do not begin with a complete head, or when its checksum or a length is invalid.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (covered, stored) = bytes.get(..BLOCK_HEAD)?.split_last_chunk()?;
        let mut fields = Fields(covered.strip_prefix(&SYNC)?);
        if checksum(covered) != u32::from_le_bytes(*stored) {
            return None;
        }
        let [kind, ..] = fields.u32()?.to_le_bytes();
        let head = Self {
            kind: BlockKind::of(kind),
            packed: usize::try_from(fields.u32()?).ok()?,
            raw: usize::try_from(fields.u32()?).ok()?,
            first: fields.u64()?,
            count: fields.u32()?,
            from: fields.time()?,
            until: fields.time()?,
            checksum: fields.u32()?,
        };
        (head.packed <= MAX_PACKED && head.raw <= MAX_RAW).then_some(head)
    }
}

/// CRC-32 as in gzip.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Little-endian numbers, read one after the other.
struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn time(&mut self) -> Option<Timestamp> {
        self.u64().map(Timestamp::from_nanos)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }
}
