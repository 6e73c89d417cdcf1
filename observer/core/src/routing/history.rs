//! Revisions that a run has seen as current. They decide whether a snapshot of a revision can still exist.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::time::Timestamp;

/// The watch cache still holds a revision that was current at most this long ago. This is the length of its event window
/// (kubernetes/apiserver `pkg/storage/cacher/watch_cache.go`, 75 s in v0.19 to v0.37; §1.4 of docs/semantics.md).
pub const SURELY_HELD: Duration = Duration::from_secs(75);
/// etcd has compacted a revision that was last current at least this long ago: twice the default of `--etcd-compaction-interval`.
pub const SURELY_COMPACTED: Duration = Duration::from_mins(10);

/// Spacing of the kept revisions that were current within the last [`SURELY_HELD`].
const RECENT_EVERY: Duration = Duration::from_secs(1);
/// Spacing of the older kept revisions.
const OLDER_EVERY: Duration = Duration::from_secs(10);

/// Whether the watch cache holds a snapshot of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coverage {
    /// The watch cache holds a snapshot: the revision was current at most 75 s ago. There is one exception, which the traffic
    /// does not reveal: a resource that was not written since etcd's last compaction has lost its snapshots. v0.34 to
    /// v0.37 drop all snapshots below the compacted revision, the newest included.
    Held,
    /// The revision is newer than all revisions seen, and a revision was seen at most 75 s ago. The cache has the revision, or
    /// waits for it.
    Ahead,
    /// Neither the watch cache nor etcd has the revision: it is at least two compaction intervals old.
    Gone,
    /// The revisions seen so far do not show whether the watch cache holds a snapshot.
    Undecided,
}

/// The revisions of one resource of one API server, and when they were current. At most about 140 are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RevisionHistory {
    /// The first revision seen in each second.
    recent: BTreeMap<u64, Seen>,
    /// The last revision seen in each ten-second interval.
    older: BTreeMap<u64, Seen>,
    /// The newest revision that fell out of `older`.
    compacted: Option<u64>,
    newest: Option<Seen>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    at: Timestamp,
    revision: u64,
}

impl RevisionHistory {
    /// Learns that `revision` was current at `at`, as shown by a list of the current state or by a bookmark.
    ///
    /// A revision below a known one is ignored, because the answer came late, or from a cache that lags.
    pub fn note(&mut self, revision: u64, at: Timestamp) {
        if self.newest.is_some_and(|newest| newest.revision > revision) {
            return;
        }
        let seen = Seen { at, revision };
        self.newest = Some(seen);
        self.recent.entry(bucket(at, RECENT_EVERY)).or_insert(seen);
        self.older.insert(bucket(at, OLDER_EVERY), seen);
        self.recent.retain(|_, kept| at.since(kept.at) <= SURELY_HELD);
        while let Some(oldest) = self.older.first_entry()
            && at.since(oldest.get().at) >= SURELY_COMPACTED
        {
            self.compacted = self.compacted.max(Some(oldest.remove().revision));
        }
    }

    /// Whether the revisions seen show that a snapshot of `revision` is held at `now`.
    pub fn coverage(&self, revision: u64, now: Timestamp) -> Coverage {
        let fresh = self.recent.values().filter(|seen| now.since(seen.at) <= SURELY_HELD).map(|seen| seen.revision).min();
        let old = self.older.values().filter(|seen| now.since(seen.at) >= SURELY_COMPACTED).map(|seen| seen.revision);
        let compacted = old.chain(self.compacted).max();
        if compacted.is_some_and(|compacted| revision <= compacted) && fresh.is_none_or(|fresh| revision < fresh) {
            return Coverage::Gone;
        }
        match (fresh, self.newest) {
            (Some(_), Some(newest)) if revision > newest.revision => Coverage::Ahead,
            (Some(fresh), _) if revision >= fresh => Coverage::Held,
            (Some(_) | None, _) => Coverage::Undecided,
        }
    }

    /// Forgets everything, after a restart of the server or a reset of its watch cache: the snapshots are lost.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

fn bucket(at: Timestamp, every: Duration) -> u64 {
    u64::try_from(every.as_nanos()).ok().and_then(|every| at.as_nanos().checked_div(every)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revision_current_within_the_event_window_is_held() {
        let history = seen(&[(100, 5000)]);
        assert_eq!(history.coverage(5000, at(175)), Coverage::Held);
        assert_eq!(history.coverage(5000, at(176)), Coverage::Undecided);
        assert_eq!(history.coverage(4999, at(101)), Coverage::Undecided);
    }

    #[test]
    fn revision_above_all_recent_ones_is_ahead() {
        let history = seen(&[(100, 5000), (160, 6000)]);
        assert_eq!(history.coverage(6001, at(161)), Coverage::Ahead);
        assert_eq!(history.coverage(5500, at(161)), Coverage::Held);
        assert_eq!(history.coverage(6001, at(236)), Coverage::Undecided);
    }

    #[test]
    fn revision_older_than_two_compactions_is_gone() {
        let mut history = seen(&[(100, 5000)]);
        assert_eq!(history.coverage(5000, at(699)), Coverage::Undecided);
        assert_eq!(history.coverage(5000, at(700)), Coverage::Gone);
        assert_eq!(history.coverage(5001, at(700)), Coverage::Undecided);
        history.note(9000, at(5000));
        assert_eq!(history.coverage(5000, at(5001)), Coverage::Gone);
    }

    #[test]
    fn quiet_server_holds_the_revision_that_never_changed() {
        let history = seen(&[(100, 5000), (900, 5000)]);
        assert_eq!(history.coverage(5000, at(905)), Coverage::Held);
    }

    #[test]
    fn late_answer_proves_nothing() {
        let history = seen(&[(100, 5000), (101, 10)]);
        assert_eq!(history.coverage(4999, at(102)), Coverage::Undecided);
    }

    #[test]
    fn restart_forgets_all() {
        let mut history = seen(&[(100, 5000)]);
        history.forget();
        assert_eq!(history.coverage(5000, at(100)), Coverage::Undecided);
    }

    #[test]
    fn memory_is_bounded_however_long_the_run() {
        let mut history = RevisionHistory::default();
        for step in 0..20_000 {
            history.note(step, Timestamp::from_nanos(step * 200_000_000));
        }
        assert!(history.recent.len() <= 77 && history.older.len() <= 62, "{} {}", history.recent.len(), history.older.len());
        assert_eq!(history.coverage(16_900, at(4000)), Coverage::Gone);
    }

    fn seen(entries: &[(u64, u64)]) -> RevisionHistory {
        let mut history = RevisionHistory::default();
        for (second, revision) in entries {
            history.note(*revision, at(*second));
        }
        history
    }

    fn at(second: u64) -> Timestamp {
        Timestamp::from_nanos(second * 1_000_000_000)
    }
}
