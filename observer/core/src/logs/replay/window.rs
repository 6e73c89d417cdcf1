//! Puts records in order of time.

use std::collections::BTreeMap;

use crate::time::Timestamp;

/// Records that wait until enough later ones have come. Logs are nearly in order: a request is logged when it ends, and each server
/// writes a file of its own.
#[derive(Debug)]
pub(super) struct Window<T> {
    /// By time, and by the ordinal of their arrival.
    waiting: BTreeMap<(Timestamp, u64), Waiting<T>>,
    most: usize,
    most_bytes: usize,
    /// Bytes of the waiting records.
    bytes: usize,
    /// Ordinal of the next record, since records of the same time keep their order.
    next: u64,
    released: Timestamp,
    late: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    bytes: usize,
    record: T,
}

impl<T> Window<T> {
    /// A window of at most this many records, which have at most this many bytes together.
    pub(super) fn of(most: usize, most_bytes: usize) -> Self {
        Self { waiting: BTreeMap::new(), most, most_bytes, bytes: 0, next: 0, released: Timestamp::default(), late: 0 }
    }

    /// Takes the beginning of a request whose end is known only now. It may be older than records already released, and is not late.
    pub(super) fn push_beginning(&mut self, at: Timestamp, record: T) {
        let late = self.late;
        self.push(at, 0, record);
        self.late = late;
    }

    /// Takes a record of so many bytes. A record that is older than one already released counts as late, and is released all the same.
    pub(super) fn push(&mut self, at: Timestamp, bytes: usize, record: T) {
        self.late = self.late.saturating_add(u64::from(at < self.released));
        self.bytes = self.bytes.saturating_add(bytes);
        self.waiting.insert((at, self.next), Waiting { bytes, record });
        self.next = self.next.saturating_add(1);
    }

    /// The oldest record if the window is full.
    pub(super) fn pop_full(&mut self) -> Option<(Timestamp, T)> {
        if self.waiting.len() > self.most || self.bytes > self.most_bytes { self.pop() } else { None }
    }

    /// The oldest record if it is of this time or an earlier one.
    pub(super) fn pop_until(&mut self, until: Timestamp) -> Option<(Timestamp, T)> {
        let (at, _) = self.waiting.first_key_value()?.0;
        if *at <= until { self.pop() } else { None }
    }

    /// The oldest record.
    pub(super) fn pop(&mut self) -> Option<(Timestamp, T)> {
        let ((at, _), Waiting { bytes, record }) = self.waiting.pop_first()?;
        self.bytes = self.bytes.saturating_sub(bytes);
        self.released = self.released.max(at);
        Some((at, record))
    }

    /// The waiting records until this time, in order.
    pub(super) fn until(&self, last: Timestamp) -> impl Iterator<Item = &T> {
        self.waiting.range(..=(last, u64::MAX)).map(|(_, waiting)| &waiting.record)
    }

    /// Number of records that came too late for their place.
    pub(super) const fn late(&self) -> u64 {
        self.late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> Timestamp {
        Timestamp::from_nanos(second * 1_000_000_000)
    }

    fn all(window: &mut Window<char>) -> String {
        std::iter::from_fn(|| window.pop()).map(|(_, record)| record).collect()
    }

    #[test]
    fn records_are_seen_before_their_release() {
        let mut window = Window::of(8, 100);
        for (second, record) in [(3, 'c'), (1, 'a'), (2, 'b')] {
            window.push(at(second), 1, record);
        }
        assert_eq!(window.until(at(2)).collect::<String>(), "ab");
        assert_eq!(all(&mut window), "abc");
    }

    #[test]
    fn records_come_in_order_of_time_and_then_of_arrival() {
        let mut window = Window::of(8, 100);
        for (second, record) in [(3, 'd'), (1, 'a'), (2, 'b'), (2, 'c')] {
            window.push(at(second), 1, record);
        }
        assert_eq!(window.pop_full(), None);
        assert_eq!((all(&mut window).as_str(), window.late()), ("abcd", 0));
    }

    #[test]
    fn record_that_is_too_late_is_released_and_counted() {
        let mut window = Window::of(1, 100);
        window.push(at(5), 1, 'b');
        window.push(at(6), 1, 'c');
        assert_eq!(window.pop_full(), Some((at(5), 'b')));
        window.push(at(1), 1, 'a');
        assert_eq!((window.pop_full(), window.late()), (Some((at(1), 'a')), 1));
    }

    #[test]
    fn large_records_fill_the_window_sooner() {
        let mut window = Window::of(8, 100);
        window.push(at(5), 60, 'a');
        assert_eq!(window.pop_full(), None);
        window.push(at(6), 60, 'b');
        assert_eq!((window.pop_full(), window.pop_full()), (Some((at(5), 'a')), None));
    }
}
