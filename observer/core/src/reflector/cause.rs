//! The causes of relists, with an identifier and a sentence for each.

use std::fmt;

use serde::Serialize;

/// Why a reflector relisted: exactly one cause for each relist (§6.5 of docs/semantics.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum RelistCause {
    /// The server no longer had the revision to watch from: 410.
    Expired {
        /// Why the revision was gone.
        because: Stale,
    },
    /// The server had not reached the revision yet: 504 with cause `ResourceVersionTooLarge`.
    TooLargeResourceVersion,
    /// The watch ended within a second, before any event.
    VeryShortWatch,
    /// The server closed the watch by force, because the client read too slowly, as the server's log shows.
    ClosedByForce,
    /// The watch sent an `ERROR` event that no other cause covers.
    WatchError {
        /// `code` of its `Status`.
        code: u16,
    },
    /// The watch was refused with a status that no other cause covers.
    WatchRefused {
        /// The HTTP status.
        status: u16,
    },
    /// The watch was refused or ended because of too many requests: 429.
    TooManyRequests,
    /// The server reset the stream of the watch.
    StreamReset,
    /// The connection of the watch was lost.
    ConnectionLost,
    /// The server refused connections, and the client relisted instead of resuming: client-go up to 1.15.
    RefusedMisread,
    /// The list at the client's revision was refused with 410: the revision was compacted.
    ListExpired,
    /// A page after the first was refused with 410: the pages took longer than the server keeps revisions.
    ContinueExpired,
    /// The client's process was restarted.
    NewProcess,
    /// The client ended its watch and started without state, as with a rebuilt informer.
    Rebuilt,
    /// The client could have resumed, but watched without a revision, so the server sent all objects.
    WatchWithoutRevision,
    /// No observation explains it.
    Unknown {
        /// Why there is no explanation.
        reason: UnknownCause,
    },
}

/// Why the server no longer had the revision to watch from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stale {
    /// No bookmark advanced the client's revision: the client had not requested bookmarks.
    BookmarksNotRequested,
    /// No bookmark advanced the client's revision, although the client had requested bookmarks: servers up to 1.27 send none while
    /// a resource is quiet.
    NoBookmarks,
    /// The server's watch cache was reset and holds only later events.
    CacheReset,
    /// The revision is recent, but the server's event window may no longer reach back to it. The window has a fixed length (1.16 to
    /// 1.18), its maximum length, or an unknown length. Or the watch cache was reset.
    WindowPassed,
    /// The client did not watch, or did not read, for a while.
    ClientStalled,
    /// No observation explains it.
    Unknown,
}

/// Why the cause of a relist is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownCause {
    /// Part of the traffic before the relist was not observed.
    NotObserved,
    /// The previous watch ended normally; a client would resume it.
    WatchEndedNormally,
    /// The server refused connections, and the client started without state: its process was restarted, or its library does this.
    AfterRefusal,
    /// watchtap ended the connection.
    ByWatchtap,
    /// The client cancelled its watch and listed from its own revision, as client-go does after an event that it cannot decode.
    Cancelled,
    /// A log shows that the watch ended before its time, but not why.
    EndNotLogged,
}

impl RelistCause {
    /// Maximum number of distinct causes that are counted for a reflector or a storm. There are 24 causes without a status code,
    /// and two for each status code.
    pub(crate) const MOST_COUNTED: usize = 64;

    /// Identifier of the cause, with details after a slash. The page's filter `cause:` and `watchtap explain` take it.
    pub fn id(self) -> String {
        self.to_string()
    }

    /// Whether the client has no earlier objects, so that no object of the list is a spurious update.
    pub const fn begins_from_nothing(self) -> bool {
        matches!(self, Self::NewProcess | Self::Rebuilt)
    }

    /// Describes the cause in one sentence.
    pub fn sentence(self) -> String {
        match self {
            Self::Expired { because } => format!("410 Gone, the resource version of the watch had expired: {}", because.words()),
            Self::TooLargeResourceVersion => {
                "the API server had not reached the client's resource version (504 Too large resource version)".to_owned()
            }
            Self::VeryShortWatch => "the watch ended within a second, before any event".to_owned(),
            Self::ClosedByForce => "the API server closed the watch by force, because the client read too slowly".to_owned(),
            Self::WatchError { code } => watch_error(code),
            Self::WatchRefused { status } => watch_refused(status),
            Self::TooManyRequests => "the API server had too many requests (429)".to_owned(),
            Self::StreamReset => "the API server reset the stream of the watch".to_owned(),
            Self::ConnectionLost => "the connection of the watch was lost".to_owned(),
            Self::RefusedMisread => {
                "the API server refused connections, and the client listed instead of resuming its watch (client-go before \
                 1.16)"
                    .to_owned()
            }
            Self::ListExpired => "the list at the client's resource version was refused with 410: etcd had compacted it".to_owned(),
            Self::ContinueExpired => "a later page was refused with 410: paging took longer than etcd keeps revisions".to_owned(),
            Self::NewProcess => "the client's process restarted".to_owned(),
            Self::Rebuilt => "the client rebuilt its informer: it ended its watch and listed from scratch".to_owned(),
            Self::WatchWithoutRevision => "the client watched without a resource version, so the API server sent all objects \
                again"
                .to_owned(),
            Self::Unknown { reason } => format!("unknown: {}", reason.words()),
        }
    }
}

/// [`RelistCause::sentence`] of a watch that ended with an ERROR event.
pub(super) fn watch_error(code: impl fmt::Display) -> String {
    format!("the watch ended with an ERROR event of code {code}")
}

/// [`RelistCause::sentence`] of a watch that was refused.
pub(super) fn watch_refused(status: impl fmt::Display) -> String {
    format!("the watch was refused with {status}")
}

impl fmt::Display for RelistCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired { because } => write!(formatter, "expired/{}", because.id()),
            Self::TooLargeResourceVersion => formatter.write_str("too-large-resource-version"),
            Self::VeryShortWatch => formatter.write_str("very-short-watch"),
            Self::ClosedByForce => formatter.write_str("closed-by-force"),
            Self::WatchError { code } => write!(formatter, "watch-error/{code}"),
            Self::WatchRefused { status } => write!(formatter, "watch-refused/{status}"),
            Self::TooManyRequests => formatter.write_str("too-many-requests"),
            Self::StreamReset => formatter.write_str("stream-reset"),
            Self::ConnectionLost => formatter.write_str("connection-lost"),
            Self::RefusedMisread => formatter.write_str("refused-misread"),
            Self::ListExpired => formatter.write_str("list-expired"),
            Self::ContinueExpired => formatter.write_str("continue-expired"),
            Self::NewProcess => formatter.write_str("new-process"),
            Self::Rebuilt => formatter.write_str("rebuilt"),
            Self::WatchWithoutRevision => formatter.write_str("watch-without-revision"),
            Self::Unknown { reason } => write!(formatter, "unknown/{}", reason.id()),
        }
    }
}

impl Stale {
    const fn id(self) -> &'static str {
        match self {
            Self::BookmarksNotRequested => "bookmarks-not-requested",
            Self::NoBookmarks => "no-bookmarks",
            Self::CacheReset => "cache-reset",
            Self::WindowPassed => "window-passed",
            Self::ClientStalled => "client-stalled",
            Self::Unknown => "unknown",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::BookmarksNotRequested => "no bookmark had advanced it, and the client had not requested any",
            Self::NoBookmarks => "no bookmark had advanced it, although the client had requested them",
            Self::CacheReset => "the watch cache had been reset",
            Self::WindowPassed => "it was older than the event window of the watch cache, or the watch cache had been reset",
            Self::ClientStalled => "the client had not watched, or not read, for some time",
            Self::Unknown => "the reason was not observed",
        }
    }
}

impl UnknownCause {
    const fn id(self) -> &'static str {
        match self {
            Self::NotObserved => "not-observed",
            Self::WatchEndedNormally => "watch-ended-normally",
            Self::AfterRefusal => "after-refusal",
            Self::ByWatchtap => "by-watchtap",
            Self::Cancelled => "cancelled",
            Self::EndNotLogged => "end-not-logged",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::NotObserved => "part of the earlier traffic was not observed",
            Self::WatchEndedNormally => "the previous watch ended normally",
            Self::AfterRefusal => {
                "the API server had refused connections, and the client listed from scratch; its process restarted, or its \
                 library does so"
            }
            Self::ByWatchtap => "watchtap had closed the connection",
            Self::Cancelled => "the client cancelled its watch, as it does after an event that it cannot decode",
            Self::EndNotLogged => "the watch ended before its requested timeout, and the log does not show why",
        }
    }
}
