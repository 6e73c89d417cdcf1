//! The dynamic table (RFC 7541 §2.3.2 and §4).

use std::collections::VecDeque;

use super::FieldLine;

/// Size of the table before any update, in bytes (RFC 9113 §6.5.2, `SETTINGS_HEADER_TABLE_SIZE`).
pub(in crate::http::h2) const INITIAL_SIZE: u32 = 4096;
/// Most that is held, by the measure of RFC 7541 §4.1. Of a larger table the oldest entries become unknown.
const MAX_HELD: u64 = 64 * 1024;

/// The newest entries of the encoder's table.
///
/// Entries are addressed by how new they are, so an index means the same entry whatever has been evicted. What is held here is a
/// run of the newest insertions: at least those that the encoder still has and that were seen, perhaps some that it has evicted,
/// which it cannot refer to. So an answer may be *unknown*, but never another field.
#[derive(Debug)]
pub(super) struct Table {
    /// Newest first.
    lines: VecDeque<FieldLine>,
    /// Sum of the sizes of `lines`.
    size: u64,
    /// The encoder's limit; `None` until it says one, when decoding began in the middle.
    max_size: Option<u32>,
    older: Older,
}

/// Whether the encoder may have entries that are older than those held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Older {
    Gone,
    Possible,
}

/// What an index refers to.
#[derive(Debug)]
pub(super) enum Found<'a> {
    /// An entry that was seen.
    Line(&'a FieldLine),
    /// An entry from before our time, or lost since.
    Unknown,
    /// No entry: the index is wrong.
    Nothing,
}

impl Table {
    /// The table at the beginning of a connection.
    pub(super) fn empty() -> Self {
        Self { lines: VecDeque::new(), size: 0, max_size: Some(INITIAL_SIZE), older: Older::Gone }
    }

    /// A table of unknown content.
    pub(super) fn unknown() -> Self {
        Self { lines: VecDeque::new(), size: 0, max_size: None, older: Older::Possible }
    }

    /// The entry at `position`, counted from 0, the newest.
    pub(super) fn get(&self, position: u32) -> Found<'_> {
        match (usize::try_from(position).ok().and_then(|position| self.lines.get(position)), self.older) {
            (Some(line), _) => Found::Line(line),
            (None, Older::Possible) => Found::Unknown,
            (None, Older::Gone) => Found::Nothing,
        }
    }

    /// Adds the newest entry; evicts what has no room any more (RFC 7541 §4.4).
    pub(super) fn insert(&mut self, line: FieldLine) {
        self.size = self.size.saturating_add(line.size());
        self.lines.push_front(line);
        self.evict();
    }

    /// Changes the encoder's limit (RFC 7541 §4.3).
    pub(super) fn resize(&mut self, max_size: u32) {
        self.max_size = Some(max_size);
        self.evict();
        if u64::from(max_size).saturating_sub(self.size) < FieldLine::UNKNOWN.size() {
            self.older = Older::Gone;
        }
    }

    /// The size of what is held (RFC 7541 §4.1).
    #[cfg(test)]
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    fn evict(&mut self) {
        if let Some(max_size) = self.max_size
            && self.shrink_to(u64::from(max_size))
        {
            // The encoder evicts the oldest first, so when it has no room for one that was seen, those never seen are gone too.
            self.older = Older::Gone;
        }
        if self.shrink_to(MAX_HELD) {
            self.older = Older::Possible;
        }
    }

    /// Whether an entry had to go.
    fn shrink_to(&mut self, max_size: u64) -> bool {
        let before = self.lines.len();
        while self.size > max_size
            && let Some(oldest) = self.lines.pop_back()
        {
            self.size = self.size.saturating_sub(oldest.size());
        }
        self.lines.len() < before
    }
}
