//! The kinds of findings, such as a stuck reflector or a poller, and their identifiers.

use std::fmt;

use serde::Serialize;

/// Kinds of findings, the worst first. `docs/findings.md` has a section on each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A reflector repeatedly asks for a revision that the server does not reach.
    StuckReflector,
    /// A client lists in a loop without a pause.
    HotLoop,
    /// A reflector relists repeatedly: five times within ten minutes.
    RelistLoop,
    /// Several consecutive watches end within a second.
    ShortWatches,
    /// A client does not read its watch.
    SlowReader,
    /// A reflector relisted because its revision expired: it had not asked for bookmarks, which advance it.
    NoBookmarks,
    /// A client relists after refused connections; later releases of client-go resume.
    RefusedMisread,
    /// Reflectors relisted because the API server's watch cache was reset.
    CacheReset,
    /// A client lists at intervals and never watches.
    Poller,
    /// Reflectors of one process list or watch the same objects at the same time.
    DuplicateInformers,
    /// The server refuses a client's streaming lists, and the client falls back to plain lists.
    StreamingListRefused,
    /// Lists that are not limited to one namespace read many objects from etcd.
    ListsFromEtcd,
    /// Lists with a selector read far more objects from etcd than they return.
    FilterAfterReading,
    /// A client delays its own requests: it has a rate limit.
    ClientRateLimit,
    /// A reflector got a lower revision than before: its address leads to another etcd, or etcd was restored.
    RevisionWentBack,
}

impl FindingKind {
    /// All kinds, in order.
    pub const ALL: [Self; 15] = [
        Self::StuckReflector,
        Self::HotLoop,
        Self::RelistLoop,
        Self::ShortWatches,
        Self::SlowReader,
        Self::NoBookmarks,
        Self::RefusedMisread,
        Self::CacheReset,
        Self::Poller,
        Self::DuplicateInformers,
        Self::StreamingListRefused,
        Self::ListsFromEtcd,
        Self::FilterAfterReading,
        Self::ClientRateLimit,
        Self::RevisionWentBack,
    ];

    /// The identifier, which is also the anchor of its section in `docs/findings.md`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StuckReflector => "stuck-reflector",
            Self::HotLoop => "hot-loop",
            Self::RelistLoop => "relist-loop",
            Self::ShortWatches => "short-watches",
            Self::SlowReader => "slow-reader",
            Self::NoBookmarks => "no-bookmarks",
            Self::RefusedMisread => "refused-misread",
            Self::CacheReset => "cache-reset",
            Self::Poller => "poller",
            Self::DuplicateInformers => "duplicate-informers",
            Self::StreamingListRefused => "streaming-list-refused",
            Self::ListsFromEtcd => "lists-from-etcd",
            Self::FilterAfterReading => "filter-after-reading",
            Self::ClientRateLimit => "client-rate-limit",
            Self::RevisionWentBack => "revision-went-back",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
