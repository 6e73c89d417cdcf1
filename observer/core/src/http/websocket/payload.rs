//! The payload of one frame: the number of bytes left, and its mask.

/// Number of bytes unmasked at a time.
const UNMASKED: usize = 1024;

/// The rest of a frame's payload.
#[derive(Debug)]
pub(super) struct Payload {
    left: u64,
    mask: Option<[u8; 4]>,
    /// Index of the mask's next byte.
    turn: usize,
}

impl Payload {
    pub(super) const fn new(length: u64, mask: Option<[u8; 4]>) -> Self {
        Self { left: length, mask, turn: 0 }
    }

    pub(super) const fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Takes the payload at the front of `bytes`, and passes it to `emit` unmasked. Returns the bytes after it.
    pub(super) fn take<'a>(&mut self, bytes: &'a [u8], emit: &mut dyn FnMut(&[u8])) -> &'a [u8] {
        let limit = usize::try_from(self.left).unwrap_or(usize::MAX);
        let (payload, rest) = bytes.split_at_checked(limit).unwrap_or((bytes, &[]));
        match self.mask {
            None if payload.is_empty() => {}
            None => emit(payload),
            Some(mask) => {
                for piece in payload.chunks(UNMASKED) {
                    let mut unmasked = [0; UNMASKED];
                    let keys = mask.iter().cycle().skip(self.turn);
                    for ((clear, masked), key) in unmasked.iter_mut().zip(piece).zip(keys) {
                        *clear = masked ^ key;
                    }
                    emit(unmasked.get(..piece.len()).unwrap_or_default());
                    self.turn = self.turn.wrapping_add(piece.len()) % mask.len();
                }
            }
        }
        self.left = self.left.saturating_sub(payload.len() as u64);
        rest
    }

    /// Whether the next `missing` bytes are all payload.
    pub(super) const fn covers(&self, missing: u64) -> bool {
        missing <= self.left
    }

    /// Skips `missing` bytes of the payload that were not seen.
    pub(super) fn skip(&mut self, missing: u64) {
        self.left = self.left.saturating_sub(missing);
        // The mask has four bytes, so the remainder always fits.
        self.turn = self.turn.wrapping_add(usize::try_from(missing % 4).unwrap_or_default()) % 4;
    }
}
