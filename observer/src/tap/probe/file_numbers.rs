//! The numbers that files have in the kernel while they are probed.

use std::collections::VecDeque;

use observer_ebpf::MAX_FILES;

/// Those that no file has. One that comes back is given out last: records of the former file may be under way.
#[derive(Debug)]
pub(super) struct FileNumbers {
    free: VecDeque<u16>,
}

impl FileNumbers {
    pub(super) fn new() -> Self {
        Self { free: (0..MAX_FILES).collect() }
    }

    /// One for a file; nothing where [`MAX_FILES`] have one.
    pub(super) fn take(&mut self) -> Option<u16> {
        self.free.pop_front()
    }

    /// Its file is probed no more.
    pub(super) fn give_back(&mut self, number: u16) {
        self.free.push_back(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_that_comes_back_is_given_out_last() {
        let mut numbers = FileNumbers::new();
        let first = numbers.take().unwrap();
        numbers.give_back(first);
        let all: Vec<u16> = std::iter::from_fn(|| numbers.take()).collect();
        assert_eq!((all.len(), all.last()), (usize::from(MAX_FILES), Some(&first)));
        assert!(all.iter().all(|number| *number < MAX_FILES));
    }
}
