//! When the webhook checks its objects, and how long it waits for others.

use std::time::Duration;

/// The times between the webhook's checks, and the times that it gives others.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Longest time between two checks; half of it is random.
    pub check: Duration,
    /// Longest time to the next check after the first failure. Each further failure doubles it, up to `check`.
    pub retry: Duration,
    /// How long `caBundle` has to have an authority before its leaf replaces one of another authority.
    pub settle: Duration,
    /// How long `caBundle` keeps an authority that the replica that writes it does not need. By then, the others have changed, or no
    /// longer count as accepted.
    pub keep: Duration,
}

impl Pace {
    /// Two small GETs from each replica every 15 s on average.
    pub const USUAL: Self = Self {
        check: Duration::from_secs(20),
        retry: Duration::from_secs(1),
        settle: Duration::from_secs(30),
        keep: Duration::from_mins(10),
    };

    /// A replica with checks at least this often changes before the others drop the authority of its leaf: it sees a new authority
    /// in one check, and serves it in the first check after `settle`.
    pub(super) fn contact(&self) -> Duration {
        self.keep.saturating_sub(self.settle + self.check)
    }
}
