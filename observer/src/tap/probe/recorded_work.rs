//! How much work the records of each file's connections cause.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use observer_ebpf::{MAX_FILES, PAYLOAD_SIZES};

/// Least number of bytes that a record counts for: each has a cost of its own. This is the smallest room of one in the ring.
const LEAST: u64 = PAYLOAD_SIZES[0] as u64;

/// Bytes of recorded plaintext by the file whose functions show its connection. The collecting thread counts them, and the
/// attaching thread reads the counts.
#[derive(Clone, Debug)]
pub(in crate::tap::probe) struct RecordedWork(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    /// By the number of the file.
    files: Box<[AtomicU64]>,
    unassigned: AtomicU64,
}

impl RecordedWork {
    /// Nothing is recorded yet.
    pub(in crate::tap::probe) fn none() -> Self {
        let files = (0..MAX_FILES).map(|_| AtomicU64::new(0)).collect();
        Self(Arc::new(Counts { files, unassigned: AtomicU64::new(0) }))
    }

    /// Notes a record of a connection; `None` while the connection's file is unknown.
    pub(in crate::tap::probe) fn note(&self, file: Option<u32>, bytes: u64) {
        let known = file.and_then(|file| self.0.files.get(usize::try_from(file).ok()?));
        known.unwrap_or(&self.0.unassigned).fetch_add(bytes.max(LEAST), Ordering::Relaxed);
    }

    /// Bytes so far of a file's connections. A later file may get the same number, and then its bytes are added.
    pub(in crate::tap::probe) fn of(&self, file: u16) -> u64 {
        self.0.files.get(usize::from(file)).map_or(0, |bytes| bytes.load(Ordering::Relaxed))
    }

    /// Bytes so far of connections whose file was unknown. Most of them lead elsewhere, and are discarded.
    pub(in crate::tap::probe) fn unassigned(&self) -> u64 {
        self.0.unassigned.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_by_file() {
        let work = RecordedWork::none();
        for (file, bytes) in [(Some(1), 10_000), (Some(1), 1), (Some(2), 600), (None, 700), (Some(u32::from(MAX_FILES)), 800)] {
            work.clone().note(file, bytes);
        }
        assert_eq!([0, 1, 2, MAX_FILES].map(|file| work.of(file)), [0, 10_512, 600, 0]);
        assert_eq!(work.unassigned(), 1_500);
    }
}
