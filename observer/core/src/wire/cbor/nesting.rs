//! Finds the end of an item that is skipped.

use super::head::{Head, HeadReader};

/// Maximum depth of nested values without a length. Kubernetes reads at most 64 nested values of any kind (kubernetes/apimachinery
/// `pkg/runtime/serializer/cbor/internal/modes/decode.go`); those with a length cost nothing here.
const MAX_OPEN: usize = 128;

/// Finds the end of one or several nested items, across chunks.
///
/// The content of an array or map of known length is counted together with the items after it. So only values without a length need
/// a level. Two rules are not checked: that a map without a length contains pairs, and that a string without a length consists of
/// strings.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    levels: Vec<Level>,
    /// Bytes of a string that are still to come.
    string: u64,
    head: HeadReader,
}

/// The items left at one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// This many items.
    Items(u64),
    /// Any number of items and a break.
    Indefinite,
}

impl Nesting {
    /// Starts at the content of these levels, from the outermost to the innermost.
    pub(super) fn begin(&mut self, outermost: impl IntoIterator<Item = Level>) {
        self.levels.clear();
        self.levels.extend(outermost);
        self.string = 0;
    }

    /// Starts at the content of an item whose head was read.
    pub(super) fn begin_after(&mut self, head: Head) -> Result<(), &'static str> {
        self.begin([Level::Items(1)]);
        self.note(head)
    }

    /// Whether the end is reached, so that no further byte belongs to the item.
    pub(super) fn is_at_end(&self) -> bool {
        self.string == 0 && self.head.is_empty() && self.levels.iter().all(|level| *level == Level::Items(0))
    }

    /// Continues reading. Returns the bytes after the end, or `None` if the end is not in `bytes`. The error has the bytes from the
    /// invalid one on, and the reason.
    pub(super) fn end_within<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, (&'a [u8], &'static str)> {
        let mut rest = bytes;
        loop {
            if self.string > 0 {
                let piece = usize::try_from(self.string).unwrap_or(usize::MAX).min(rest.len());
                self.string -= piece as u64;
                rest = rest.get(piece..).unwrap_or_default();
            }
            while self.string == 0 && self.levels.last() == Some(&Level::Items(0)) {
                self.levels.pop();
            }
            if self.levels.is_empty() {
                return Ok(Some(rest));
            }
            rest = self.skim(rest);
            let (head, after) = self.head.take(rest).map_err(|what| (rest, what))?;
            let Some(head) = head else { return Ok(None) };
            self.note(head).map_err(|what| (after, what))?;
            rest = after;
        }
    }

    /// Skips the items of the innermost level that lie completely in `bytes`, if the level has a known length; returns the rest.
    /// This is a fast path only: the caller reads the item at which it stops.
    fn skim<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (Some(Level::Items(all_left)), true) = (self.levels.last_mut(), self.string == 0 && self.head.is_empty()) else {
            return bytes;
        };
        let (mut left, mut rest) = (*all_left, bytes);
        // The last item is left to the caller, which checks whether the end is reached.
        while left > 1 {
            let (major, argument, after) = match rest {
                [initial, after @ ..] if initial & 0x1f < 24 => (initial >> 5, u32::from(initial & 0x1f), after),
                [initial, a, after @ ..] if initial & 0x1f == 24 => (initial >> 5, u32::from(*a), after),
                [initial, a, b, after @ ..] if initial & 0x1f == 25 => {
                    (initial >> 5, u32::from(u16::from_be_bytes([*a, *b])), after)
                }
                _ => break,
            };
            let more = match major {
                2 | 3 => {
                    let Some(after) = after.get(argument as usize..) else { break };
                    (rest, left) = (after, left - 1);
                    continue;
                }
                4 => u64::from(argument),
                5 => 2 * u64::from(argument),
                6 => 1,
                _ => 0,
            };
            let Some(sum) = (left - 1).checked_add(more) else { break };
            (rest, left) = (after, sum);
        }
        *all_left = left;
        rest
    }

    #[inline]
    fn note(&mut self, head: Head) -> Result<(), &'static str> {
        if head == Head::Tag {
            return Ok(());
        }
        match self.levels.last_mut() {
            Some(Level::Indefinite) if head == Head::Break => {
                self.levels.pop();
                return Ok(());
            }
            Some(Level::Items(left)) if head != Head::Break => *left = left.saturating_sub(1),
            Some(Level::Items(_)) | None => return Err(STRAY_BREAK),
            Some(Level::Indefinite) => {}
        }
        match head {
            Head::String(Some(length)) => self.string = length,
            Head::Array(Some(items)) => return self.more(items),
            Head::Map(Some(pairs)) => return self.more(pairs.checked_mul(2).ok_or(TOO_MANY)?),
            Head::String(None) | Head::Array(None) | Head::Map(None) => return self.open(Level::Indefinite),
            Head::Integer(_) | Head::Tag | Head::Null | Head::Simple | Head::Break => {}
        }
        Ok(())
    }

    fn more(&mut self, items: u64) -> Result<(), &'static str> {
        if let Some(Level::Items(left)) = self.levels.last_mut() {
            *left = left.checked_add(items).ok_or(TOO_MANY)?;
            return Ok(());
        }
        self.open(Level::Items(items))
    }

    fn open(&mut self, level: Level) -> Result<(), &'static str> {
        if self.levels.len() >= MAX_OPEN {
            return Err("indefinite-length values are nested too deeply");
        }
        self.levels.push(level);
        Ok(())
    }
}

/// A break outside of any item without a length.
pub(super) const STRAY_BREAK: &str = "a break outside an indefinite-length value";

/// The number of items overflows.
pub(super) const TOO_MANY: &str = "impossible number of items";
