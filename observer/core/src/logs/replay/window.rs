//! Puts records in order of time.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::time::Timestamp;

/// Records that wait until enough later ones have come. Logs are nearly in order: a request is logged when it ends, and each server
/// writes a file of its own.
#[derive(Debug)]
pub(super) struct Window<T> {
    /// Those that came with their neighbours, in order. Almost all did, and a queue is several times as fast as a tree.
    run: VecDeque<Waiting<T>>,
    /// All others.
    strays: BTreeMap<Place, Waiting<T>>,
    most: usize,
    most_bytes: usize,
    /// Bytes of the waiting records.
    bytes: usize,
    /// Ordinal of the next record, since records of the same time keep their order.
    next: u64,
    released: Timestamp,
    late: u64,
}

/// The time of a record, and the ordinal of its arrival.
type Place = (Timestamp, u64);

/// Maximum number of later records in the queue before which a record is put.
const NEIGHBOURS: usize = 64;
/// A record that is later than the last one of the queue by more than this would make strays of all that follow.
const FAR: Duration = Duration::from_mins(1);

#[derive(Debug)]
struct Waiting<T> {
    place: Place,
    bytes: usize,
    record: T,
}

impl<T> Window<T> {
    /// A window of at most this many records, which have at most this many bytes together.
    pub(super) fn of(most: usize, most_bytes: usize) -> Self {
        let (run, strays) = (VecDeque::new(), BTreeMap::new());
        Self { run, strays, most, most_bytes, bytes: 0, next: 0, released: Timestamp::default(), late: 0 }
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
        let place = (at, self.next);
        let waiting = Waiting { place, bytes, record };
        match self.index_in_run(place) {
            Some(index) => self.run.insert(index, waiting),
            None => drop(self.strays.insert(place, waiting)),
        }
        self.next = self.next.saturating_add(1);
    }

    /// The index in the queue of a record with this place; `None` for a stray.
    fn index_in_run(&self, place: Place) -> Option<usize> {
        let is_far = self.run.back().is_some_and(|last| place.0.since(last.place.0) > FAR);
        let first = self.run.len().saturating_sub(NEIGHBOURS);
        let is_before = first > 0 && self.run.get(first).is_some_and(|waiting| waiting.place > place);
        if is_far || is_before {
            return None;
        }
        let later = self.run.iter().rev().take_while(|waiting| waiting.place > place).count();
        Some(self.run.len().saturating_sub(later))
    }

    /// The oldest record if the window is full.
    pub(super) fn pop_full(&mut self) -> Option<(Timestamp, T)> {
        let waiting = self.run.len().saturating_add(self.strays.len());
        if waiting > self.most || self.bytes > self.most_bytes { self.pop() } else { None }
    }

    /// The oldest record if it is of this time or an earlier one.
    pub(super) fn pop_until(&mut self, until: Timestamp) -> Option<(Timestamp, T)> {
        let first = self.run.front().into_iter().chain(self.strays.values().next()).map(|waiting| waiting.place).min()?;
        if first.0 <= until { self.pop() } else { None }
    }

    /// The oldest record.
    pub(super) fn pop(&mut self) -> Option<(Timestamp, T)> {
        let order = match (self.run.front(), self.strays.first_key_value()) {
            (Some(waiting), Some((stray, _))) => waiting.place.cmp(stray),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let first = if order.is_lt() { self.run.pop_front() } else { self.strays.pop_first().map(|(_, stray)| stray) };
        let Waiting { place: (at, _), bytes, record } = first?;
        self.bytes = self.bytes.saturating_sub(bytes);
        self.released = self.released.max(at);
        Some((at, record))
    }

    /// The waiting records until this time, in order.
    pub(super) fn until(&self, last: Timestamp) -> impl Iterator<Item = (Timestamp, &T)> {
        let mut run = self.run.iter().take_while(move |waiting| waiting.place.0 <= last).peekable();
        let mut strays = self.strays.range(..=(last, u64::MAX)).map(|(_, stray)| stray).peekable();
        let next = move || {
            let is_stray = match (run.peek(), strays.peek()) {
                (Some(waiting), Some(stray)) => stray.place < waiting.place,
                (None, _) => true,
                (Some(_), None) => false,
            };
            if is_stray { strays.next() } else { run.next() }
        };
        std::iter::from_fn(next).map(|waiting| (waiting.place.0, &waiting.record))
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
        assert_eq!(window.until(at(2)).map(|(_, record)| *record).collect::<String>(), "ab");
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
    fn records_of_a_mixed_order_come_in_order_of_time() {
        let (mut window, mut popped) = (Window::of(200, usize::MAX), Vec::new());
        for number in 0..5_000_u64 {
            // Neighbours change places, some records are much older or much later, and sometimes time jumps.
            let second = match number % 10 {
                0 => number.saturating_sub(150),
                1 => number + 500,
                other => number + other * 7 % 5 + number / 1_000 * 10_000,
            };
            window.push(at(second), 1, (second, number));
            while let Some((_, record)) = window.pop_full() {
                popped.push(record);
            }
            let seen: Vec<_> = window.until(at(second)).map(|(_, record)| *record).collect();
            assert!(seen.is_sorted() && seen.contains(&(second, number)) || popped.contains(&(second, number)));
        }
        let full = popped.len();
        while let Some((_, record)) = window.pop() {
            popped.push(record);
        }
        assert!(popped[full..].is_sorted());
        assert_eq!(popped.iter().map(|(_, number)| number).collect::<std::collections::BTreeSet<_>>().len(), 5_000);
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
