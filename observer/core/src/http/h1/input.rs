//! The bytes of one call, and their offset in their direction.

/// The unread bytes of one call.
pub(super) struct Input<'a> {
    rest: &'a [u8],
    offset: u64,
}

impl<'a> Input<'a> {
    /// `bytes`, which begin at `offset` of their direction.
    pub(super) fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { rest: bytes, offset }
    }

    /// Offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next bytes, at most `limit`.
    pub(super) fn take(&mut self, limit: u64) -> &'a [u8] {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (taken, rest) = self.rest.split_at_checked(limit).unwrap_or((self.rest, &[]));
        self.advance(taken.len(), rest);
        taken
    }

    /// The bytes up to the next LF and `true`, or all remaining ones and `false`; the LF itself is consumed.
    pub(super) fn take_line(&mut self) -> (&'a [u8], bool) {
        let found = memchr::memchr(b'\n', self.rest).and_then(|at| self.rest.split_at_checked(at));
        let Some((line, [_, rest @ ..])) = found else { return (self.take(u64::MAX), false) };
        self.advance(line.len().saturating_add(1), rest);
        (line, true)
    }

    fn advance(&mut self, by: usize, rest: &'a [u8]) {
        self.rest = rest;
        self.offset = self.offset.saturating_add(by as u64);
    }
}
