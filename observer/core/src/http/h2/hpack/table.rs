//! The dynamic table (RFC 7541 §2.3.2 and §4).

use std::collections::VecDeque;

use super::FieldLine;

/// Size of the table before any update, in bytes (RFC 9113 §6.5.2, `SETTINGS_HEADER_TABLE_SIZE`).
pub(in crate::http::h2) const INITIAL_SIZE: u32 = 4096;
/// Maximum size of the held entries, in bytes as RFC 7541 §4.1 counts them. If the encoder's table is larger, its oldest entries
/// become unknown.
const MAX_HELD: u64 = 64 * 1024;

/// Number of the first entry that is seen.
const FIRST_SEEN: u64 = 1 << 32;
/// Maximum number of entries that fit into [`MAX_HELD`].
const MAX_ENTRIES: usize = 2048;

/// The newest entries of the encoder's table.
///
/// Entries are addressed by how new they are, so an index means the same entry whatever has been evicted. The table holds a run of
/// the newest insertions. It has at least all seen entries that the encoder still has, perhaps also some that the encoder has
/// evicted and cannot refer to. So an answer may be *unknown*, but never a wrong field.
#[derive(Debug)]
pub(super) struct Table {
    /// Newest first.
    lines: VecDeque<FieldLine>,
    /// Number of insertions ever; entries that were never seen have the numbers below [`FIRST_SEEN`].
    inserted: u64,
    /// Sum of the sizes of `lines`.
    size: u64,
    /// The encoder's limit; `None` until it sends one, if decoding began in the middle.
    max_size: Option<u32>,
    older: Older,
}

/// Whether the encoder may have entries that are older than those held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Older {
    Gone,
    Possible,
}

/// The result of looking up an index.
#[derive(Debug)]
pub(super) enum Found<'a> {
    /// An entry that was seen.
    Line(&'a FieldLine),
    /// An entry from before decoding began, or lost since.
    Unknown,
    /// No entry: the index is wrong.
    Nothing,
}

impl Table {
    /// The table at the beginning of a connection.
    pub(super) fn empty() -> Self {
        Self { lines: VecDeque::new(), inserted: FIRST_SEEN, size: 0, max_size: Some(INITIAL_SIZE), older: Older::Gone }
    }

    /// A table of unknown content.
    pub(super) fn unknown() -> Self {
        Self { lines: VecDeque::new(), inserted: FIRST_SEEN, size: 0, max_size: None, older: Older::Possible }
    }

    /// The entry at `position`, counted from 0, the newest.
    pub(super) fn get(&self, position: u32) -> Found<'_> {
        match (usize::try_from(position).ok().and_then(|position| self.lines.get(position)), self.older) {
            (Some(line), _) => Found::Line(line),
            (None, Older::Possible) => Found::Unknown,
            (None, Older::Gone) => Found::Nothing,
        }
    }

    /// Adds the newest entry, and evicts those that no longer fit (RFC 7541 §4.4).
    pub(super) fn insert(&mut self, line: FieldLine) {
        self.inserted = self.inserted.saturating_add(1);
        self.size = self.size.saturating_add(line.size());
        self.lines.push_front(line);
        self.evict();
    }

    /// The number of the entry at `position`, which stays the same when others are inserted.
    pub(super) fn number(&self, position: u32) -> Option<u64> {
        self.inserted.checked_sub(1)?.checked_sub(u64::from(position))
    }

    /// Notes the field of the entry with this number, if the entry is held, or may be older than those held.
    pub(super) fn learn(&mut self, number: u64, learned: FieldLine) {
        let newest = self.inserted.saturating_sub(1);
        let position = newest.checked_sub(number).and_then(|position| usize::try_from(position).ok());
        let Some(position) = position.filter(|position| *position < MAX_ENTRIES) else { return };
        if self.older == Older::Possible {
            // The size of an unknown entry counts as the smallest possible one.
            while self.lines.len() <= position {
                self.size = self.size.saturating_add(FieldLine::UNKNOWN.size());
                self.lines.push_back(FieldLine::UNKNOWN);
            }
        }
        if let Some(line) = self.lines.get_mut(position) {
            self.size = self.size.saturating_sub(line.size()).saturating_add(learned.size());
            *line = learned;
            self.evict();
        }
    }

    /// Changes the encoder's limit (RFC 7541 §4.3).
    pub(super) fn resize(&mut self, max_size: u32) {
        self.max_size = Some(max_size);
        self.evict();
        if u64::from(max_size).saturating_sub(self.size) < FieldLine::UNKNOWN.size() {
            self.older = Older::Gone;
        }
    }

    /// Size of the held entries (RFC 7541 §4.1).
    #[cfg(test)]
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    fn evict(&mut self) {
        if let Some(max_size) = self.max_size
            && self.shrink_to(u64::from(max_size))
        {
            // The encoder evicts the oldest first. When it has no room for a seen entry, the unseen ones are gone too.
            self.older = Older::Gone;
        }
        if self.shrink_to(MAX_HELD) {
            self.older = Older::Possible;
        }
    }

    /// Evicts the oldest entries down to `max_size`; returns whether there were any.
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
