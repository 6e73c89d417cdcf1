//! The numbers that identify probed files in attach cookies and records.

use std::collections::VecDeque;

use observer_ebpf::MAX_FILES;

/// Free numbers. A returned number is reused last, since records of its former file may be under way.
#[derive(Debug)]
pub(super) struct FileNumbers {
    free: VecDeque<u16>,
}

impl FileNumbers {
    pub(super) fn new() -> Self {
        Self { free: (0..MAX_FILES).collect() }
    }

    /// A number for a file; `None` if [`MAX_FILES`] are in use.
    pub(super) fn take(&mut self) -> Option<u16> {
        self.free.pop_front()
    }

    /// Frees the number of a file that is no longer probed.
    pub(super) fn give_back(&mut self, number: u16) {
        self.free.push_back(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returned_number_is_reused_last() {
        let mut numbers = FileNumbers::new();
        let first = numbers.take().unwrap();
        numbers.give_back(first);
        let all: Vec<u16> = std::iter::from_fn(|| numbers.take()).collect();
        assert_eq!((all.len(), all.last()), (usize::from(MAX_FILES), Some(&first)));
        assert!(all.iter().all(|number| *number < MAX_FILES));
    }
}
