//! The units in which the amounts of findings are counted.

use serde::Serialize;

use crate::finding_kind::FindingKind;

/// The unit of [`super::Finding::amount`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AmountUnit {
    /// Relists, including relists that clients cannot avoid.
    Relists,
    /// Lists, or pages of lists.
    Lists,
    /// Lists by a watch with `sendInitialEvents`.
    StreamingLists,
    /// Watches, open or ended.
    Watches,
    /// Gets of single objects.
    Gets,
    /// Requests of several kinds.
    Requests,
    /// Objects read, listed or kept.
    Objects,
    /// Informers of one process for the same objects.
    Informers,
    /// A length of time, in microseconds.
    Microseconds,
}

impl FindingKind {
    /// The unit of the amounts of its findings; `None` if it has no amount.
    pub const fn unit(self) -> Option<AmountUnit> {
        Some(match self {
            Self::StuckReflector | Self::DeafWatch | Self::WatchAheadOfServer | Self::SlowReader | Self::SlowSync => {
                AmountUnit::Microseconds
            }
            Self::RelistLoop
            | Self::NoBookmarks
            | Self::RefusedMisread
            | Self::NoResume
            | Self::FullStateByWatch
            | Self::ContinueExpired
            | Self::RelistStorm
            | Self::CacheReset => AmountUnit::Relists,
            Self::HotLoop
            | Self::Poller
            | Self::ConsistentReadFellBack
            | Self::FilterAfterReading
            | Self::RevisionWentBack
            | Self::OlderState
            | Self::IgnoredLimit => AmountUnit::Lists,
            Self::NeverSynced | Self::StreamingListRefused => AmountUnit::StreamingLists,
            Self::ExpiredLoop | Self::SilentExpired | Self::ShortWatches | Self::ManyWatches => AmountUnit::Watches,
            Self::GetPoller => AmountUnit::Gets,
            Self::RefusedRequests | Self::ServerErrors => AmountUnit::Requests,
            Self::ListsFromEtcd | Self::Rollout | Self::WideInformer => AmountUnit::Objects,
            Self::DuplicateInformers => AmountUnit::Informers,
            Self::ClientRateLimit => return None,
        })
    }

    /// The amount of several findings: for counts the sum; for durations the longest, because several reflectors may be stuck or
    /// stalled at the same time.
    pub(in crate::observer) fn together(self, amounts: impl Iterator<Item = u64>) -> u64 {
        if self.unit() == Some(AmountUnit::Microseconds) {
            amounts.max().unwrap_or(0)
        } else {
            amounts.fold(0, u64::saturating_add)
        }
    }
}
