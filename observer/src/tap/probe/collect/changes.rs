//! Changes of processes and sockets that arrive apart from the records, until their turn comes.

use std::collections::VecDeque;

use observer_ebpf::Life;

use crate::tap::probe::attach::Explained;

/// Most ends that wait, and most changes of header-field recording that wait.
const MAX_WAITING: usize = 65_536;

/// Changes from two sources, each in order of time. All times are of the kernel's clock.
#[derive(Debug, Default)]
pub(super) struct Changes {
    ends: VecDeque<Life>,
    explained: VecDeque<Explained>,
}

/// A change from either source.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// A process or a socket ended, or began to end.
    Ended(Life),
    /// From then on, header fields of a process are recorded, or no longer.
    Explained(Explained),
}

impl Changes {
    pub(super) fn ended(&mut self, life: Life) {
        self.ends.push_back(life);
    }

    pub(super) fn explain(&mut self, explained: Explained) {
        self.explained.push_back(explained);
    }

    /// Whether so many wait that they must be applied at once.
    pub(super) fn are_too_many(&self) -> bool {
        self.ends.len() > MAX_WAITING || self.explained.len() > MAX_WAITING
    }

    /// The next change before a time, from either source: a process with recorded header fields may have the PID of one that has
    /// ended.
    pub(super) fn next(&mut self, before: u64) -> Option<Change> {
        let end = self.ends.front().map_or(u64::MAX, |life| life.time);
        let explained = self.explained.pop_front_if(|explained| explained.at < end.min(before));
        explained.map(Change::Explained).or_else(|| self.ends.pop_front_if(|life| life.time < before).map(Change::Ended))
    }
}

#[cfg(test)]
mod tests {
    use observer_ebpf::LifeKind;

    use super::*;

    const PROCESS: u32 = 7;

    fn end(time: u64) -> Life {
        Life { time, kind: LifeKind::Exit as u32, process: PROCESS, socket: 0, before: 0, after: 0, error: 0 }
    }

    /// Times of all changes; for a change of header-field recording, with its new value.
    fn all(changes: &mut Changes, before: u64) -> Vec<(u64, Option<bool>)> {
        let next = || {
            Some(match changes.next(before)? {
                Change::Ended(life) => (life.time, None),
                Change::Explained(explained) => (explained.at, Some(explained.is_told)),
            })
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn process_is_explained_after_the_end_of_the_one_whose_number_it_has() {
        let mut changes = Changes::default();
        changes.explain(Explained { process: PROCESS, is_told: false, at: 200 });
        changes.explain(Explained { process: PROCESS, is_told: true, at: 300 });
        changes.ended(end(100));
        changes.ended(end(400));
        assert_eq!(all(&mut changes, 100), []);
        assert_eq!(all(&mut changes, 250), [(100, None), (200, Some(false))]);
        assert_eq!(all(&mut changes, u64::MAX), [(300, Some(true)), (400, None)]);
    }

    #[test]
    fn changes_that_wait_are_bounded() {
        let mut changes = Changes::default();
        (0..MAX_WAITING).for_each(|_| changes.ended(end(1)));
        (0..MAX_WAITING).for_each(|_| changes.explain(Explained { process: PROCESS, is_told: true, at: 1 }));
        assert!(!changes.are_too_many());
        changes.explain(Explained { process: PROCESS, is_told: true, at: 1 });
        assert!(changes.are_too_many());
        assert_eq!(all(&mut changes, u64::MAX).len(), 2 * MAX_WAITING + 1);
        changes.ended(end(1));
        assert!(!changes.are_too_many());
    }
}
