//! Kinds of findings.

use std::fmt;

use serde::Serialize;

/// What is wrong, the worst first. Each kind has its section in `docs/findings.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A reflector asks for ever for a revision that the server does not reach.
    StuckReflector,
    /// A client lists in a loop without a pause.
    HotLoop,
    /// A reflector lists again and again.
    RelistLoop,
    /// Watches are ended within a second.
    ShortWatches,
    /// A client does not read the watch that it asked for.
    SlowReader,
    /// A reflector listed again because no bookmark had moved its revision on.
    NoBookmarks,
    /// A client lists again after refused connections, which later clients do not.
    RefusedMisread,
    /// Reflectors listed again because the watch cache of the API server had been reset.
    CacheReset,
    /// A client lists at intervals what it could watch.
    Poller,
    /// One client watches the same thing twice.
    DuplicateInformers,
    /// A client asks for streaming lists that the server refuses, and lists after all.
    StreamingListRefused,
    /// Lists of all namespaces, read from etcd.
    ListsFromEtcd,
    /// Lists with a selector read far more from etcd than they give.
    FilterAfterReading,
    /// A client holds its own requests back.
    ClientRateLimit,
    /// The revision of a reflector went back: it talks to another API server, or etcd was restored.
    RevisionWentBack,
}

impl FindingKind {
    /// All of them.
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
