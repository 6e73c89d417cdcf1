//! Finds the file for which watchtap takes too much processor time: pure.
//!
//! That time is taken for what the programs record, and they record connections of API servers only. So a file with few calls and
//! large lists may be the cause. A busy server beside it is not, but its calls are counted, too. Records of connections
//! whose socket is unknown have no file. If there are many of them, the calls are the better hint.

use super::processor_use::Excess;
use crate::tap::probe::find::FileIdentity;

/// The use of a probed file's functions each second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) file: FileIdentity,
    /// Calls, of any process to anywhere.
    pub(super) calls: u64,
    /// Recorded bytes of its connections.
    pub(super) work: u64,
}

/// The file of which most is recorded, unless more is recorded of `unassigned` connections; then that with the most calls. `None` if
/// nothing is recorded, or if no file has enough calls to be the cause.
pub(super) fn cause(excess: Excess, files: &[Cost], unassigned: u64) -> Option<Cost> {
    let able = || files.iter().filter(|cost| excess.may_come_from(cost.calls));
    let most_recorded = able().max_by_key(|cost| cost.work).filter(|cost| cost.work > unassigned);
    most_recorded.or_else(|| able().max_by_key(|cost| cost.calls).filter(|_| unassigned > 0)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_with_the_most_recorded_bytes_is_the_cause() {
        let file = |inode, calls, work| Cost { file: FileIdentity { device: 1, inode, born: None }, calls, work };
        let (server, controller) = (file(1, 90_000, 0), file(2, 2_000, 50_000_000));
        let (idle, kubelet) = (file(3, 1, 60_000_000), file(4, 3_000, 10_000));
        // 100 ms of each second take 100 calls at least.
        let excess = Excess { taken: 600, budget: 500 };
        for (files, unassigned, expected) in [
            (&[server, controller, kubelet][..], 0, Some(controller)),
            (&[server, controller, kubelet], 60_000_000, Some(server)),
            (&[server, idle, kubelet], 0, Some(kubelet)),
            (&[server], 0, None),
            (&[server], 1, Some(server)),
            (&[idle], 0, None),
            (&[], 0, None),
        ] {
            assert_eq!(cause(excess, files, unassigned), expected, "{files:?} {unassigned}");
        }
    }
}
