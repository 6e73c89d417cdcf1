//! Pseudo-random bytes from a seed, which can be compared without storing them.

/// Marsaglia's xorshift64.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    pub(super) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = std::iter::repeat_with(|| self.next().to_le_bytes()).take(length / 8 + 1).flatten().collect();
        bytes.truncate(length);
        bytes
    }
}

/// FNV-1a: equal streams have equal hashes, however they were split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StreamHash {
    pub(super) length: u64,
    hash: u64,
}

impl StreamHash {
    pub(super) fn new() -> Self {
        Self { length: 0, hash: 0xcbf2_9ce4_8422_2325 }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
