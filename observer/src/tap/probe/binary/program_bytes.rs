//! The bytes of a program, read in pieces.
//!
//! A program has up to hundreds of megabytes, and the search needs a few of them. So structures are read one by one, and long
//! tables are searched in chunks.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use memchr::memmem::Finder;

use super::bounds;

/// Number of bytes that are searched at once.
const CHUNK: usize = 128 << 10;

/// A program in memory, or in a file.
#[derive(Clone, Copy, Debug)]
pub enum ProgramBytes<'a> {
    /// All of its bytes.
    Memory(&'a [u8]),
    /// They are read when they are needed.
    File {
        /// The file, which is open for reading.
        file: &'a File,
        /// Its length when it was opened, in bytes.
        length: u64,
    },
}

impl ProgramBytes<'_> {
    /// In bytes.
    pub fn length(self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { length, .. } => length,
        }
    }

    /// Whether the program has these bytes.
    pub(super) fn has(self, at: u64, length: u64) -> bool {
        at.checked_add(length).is_some_and(|end| end <= self.length())
    }

    /// Some bytes of the program. `None` if it does not have them, if they cannot be read, or if they are more than
    /// [`bounds::PIECE_BYTES`].
    pub(super) fn piece(self, at: u64, length: u64) -> Option<Vec<u8>> {
        if length > bounds::PIECE_BYTES || !self.has(at, length) {
            return None;
        }
        let mut piece = vec![0; usize::try_from(length).ok()?];
        self.fill(at, &mut piece)?;
        Some(piece)
    }

    /// Searches `length` bytes from `at` on, and returns the first result of `accept`, which gets the offset of each match. `None`
    /// if there is none, also because the program ends earlier.
    pub(super) fn find<T>(self, at: u64, length: u64, wanted: &[u8], mut accept: impl FnMut(u64) -> Option<T>) -> Option<T> {
        let finder = Finder::new(wanted);
        self.chunks(at, length, wanted.len().saturating_sub(1), |offset, chunk| {
            finder.find_iter(chunk).find_map(|within| accept(offset.checked_add(within as u64)?))
        })
    }

    /// Searches `length` bytes from `at` on for names that end with a zero byte. Each contains `anchor`. Passes to `each` where a name
    /// begins, its place in `names`, and the byte before it, which is 0 for the first one. A name may be passed twice.
    pub(super) fn find_names(self, at: u64, length: u64, anchor: &str, names: &[&str], mut each: impl FnMut(u64, usize, u8)) {
        let ended: Vec<(usize, Vec<u8>)> =
            names.iter().map(|name| (name.find(anchor).unwrap_or(usize::MAX), [name.as_bytes(), &[0]].concat())).collect();
        let overlap = 1 + ended.iter().map(|(_, name)| name.len()).max().unwrap_or_default();
        let finder = Finder::new(anchor);
        self.chunks(at, length, overlap, |offset, chunk| {
            for hit in finder.find_iter(chunk) {
                for (which, (before, name)) in ended.iter().enumerate() {
                    let Some(begin) = hit.checked_sub(*before) else { continue };
                    if !chunk.get(begin..).is_some_and(|rest| rest.starts_with(name)) {
                        continue;
                    }
                    let previous = begin.checked_sub(1).and_then(|previous| chunk.get(previous)).copied();
                    // At the begin of a later chunk, the name was in the one before.
                    if let Some(previous) = previous.or((offset == at).then_some(0)) {
                        each(offset + begin as u64, which, previous);
                    }
                }
            }
            None::<()>
        });
    }

    /// Passes `length` bytes from `at` on to `each`, in chunks with their offsets, and returns its first result. Each chunk begins
    /// with the last `overlap` bytes of the one before.
    pub(super) fn chunks<T>(
        self,
        at: u64,
        length: u64,
        overlap: usize,
        mut each: impl FnMut(u64, &[u8]) -> Option<T>,
    ) -> Option<T> {
        let end = at.checked_add(length)?.min(self.length());
        if let Self::Memory(bytes) = self {
            return each(at, bytes.get(usize::try_from(at).ok()?..usize::try_from(end).ok()?)?);
        }
        let mut chunk = vec![0; CHUNK + overlap];
        let (mut next, mut kept) = (at, 0);
        while next < end {
            let room = usize::try_from(end - next).unwrap_or(usize::MAX).min(chunk.len() - kept);
            self.fill(next, chunk.get_mut(kept..kept + room)?)?;
            let filled = chunk.get(..kept + room)?;
            if let Some(found) = each(next - kept as u64, filled) {
                return Some(found);
            }
            next += room as u64;
            let keep = overlap.min(filled.len());
            chunk.copy_within(kept + room - keep..kept + room, 0);
            kept = keep;
        }
        None
    }

    pub(super) fn fill(self, at: u64, into: &mut [u8]) -> Option<()> {
        match self {
            Self::Memory(bytes) => {
                into.copy_from_slice(bytes.get(usize::try_from(at).ok()?..)?.get(..into.len())?);
                Some(())
            }
            Self::File { file, .. } => file.read_exact_at(into, at).ok(),
        }
    }
}

impl<'a> From<&'a [u8]> for ProgramBytes<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Memory(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for ProgramBytes<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Memory(bytes)
    }
}

/// Reads numbers of a long table in ascending order, through a buffer. The numbers of a damaged table may be anywhere, so the bytes
/// that are read are bounded.
#[derive(Debug)]
pub(super) struct Window<'a> {
    bytes: ProgramBytes<'a>,
    start: u64,
    end: u64,
    buffer: Vec<u8>,
    buffer_at: u64,
    left: u64,
}

impl<'a> Window<'a> {
    /// For the bytes from `start` to `end`.
    pub(super) fn new(bytes: ProgramBytes<'a>, start: u64, end: u64) -> Self {
        const PASSES: u64 = 4;
        let length = end.saturating_sub(start);
        Self { bytes, start, end, buffer: Vec::new(), buffer_at: start, left: length.saturating_mul(PASSES) + CHUNK as u64 }
    }

    /// `N` bytes at an offset from `start`.
    pub(super) fn at<const N: usize>(&mut self, offset: u64) -> Option<[u8; N]> {
        let at = self.start.checked_add(offset)?;
        if let Some(found) = self.buffered(at) {
            return Some(found);
        }
        let length = self.end.checked_sub(at)?.min(CHUNK as u64);
        self.left = self.left.checked_sub(length)?;
        self.buffer.resize(usize::try_from(length).ok()?, 0);
        self.buffer_at = at;
        if self.bytes.fill(at, &mut self.buffer).is_none() {
            self.buffer.clear();
        }
        self.buffered(at)
    }

    fn buffered<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let within = usize::try_from(at.checked_sub(self.buffer_at)?).ok()?;
        self.buffer.get(within..)?.first_chunk().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const WANTED: &[u8] = b"SSL_write";

    #[test]
    fn match_is_found_across_chunks_only_within_its_range() {
        for before in (CHUNK - 2 * WANTED.len()..CHUNK + WANTED.len()).chain([0, 3 * CHUNK - 4]) {
            let file = tempfile::tempfile().unwrap();
            file.write_all_at(WANTED, before as u64).unwrap();
            let length = (before + WANTED.len()) as u64;
            let bytes = ProgramBytes::File { file: &file, length };
            assert_eq!(bytes.find(0, length, WANTED, Some), Some(before as u64), "{before}");
            assert_eq!(bytes.find(0, length - 1, WANTED, Some), None, "{before}");
        }
    }

    #[test]
    fn numbers_are_the_same_from_memory_and_from_a_file() {
        let numbers: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&numbers).unwrap();
        let length = numbers.len() as u64;
        for bytes in [ProgramBytes::from(&numbers), ProgramBytes::File { file: &file, length }] {
            let mut window = Window::new(bytes, 4, length);
            for number in (0..99_999_u32).chain([7, 99_998, 3]) {
                assert_eq!(window.at(u64::from(number) * 4), Some((number + 1).to_le_bytes()));
            }
            assert_eq!(window.at::<4>(length - 4), None);
        }
    }

    #[test]
    fn table_in_a_wrong_order_is_given_up() {
        let bytes = vec![0; 100 * CHUNK];
        let mut window = Window::new(ProgramBytes::from(&bytes), 0, bytes.len() as u64);
        let far = 50 * CHUNK as u64;
        let read = (0..1_000_000).take_while(|turn| window.at::<4>(turn % 2 * far).is_some()).count();
        assert!((390..410).contains(&read), "{read}");
    }

    #[test]
    fn pieces_are_bounded_and_lie_in_the_program() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 30).unwrap();
        let bytes = ProgramBytes::File { file: &file, length: 1 << 30 };
        assert_eq!(bytes.piece((1 << 30) - 8, 8), Some(vec![0; 8]));
        for (at, length) in [((1 << 30) - 8, 9), (0, bounds::PIECE_BYTES + 1), (u64::MAX, 2)] {
            assert_eq!(bytes.piece(at, length), None, "{at} {length}");
        }
    }
}
