//! Why a reflector listed again.

use std::fmt;

use serde::Serialize;

/// Why a reflector listed again: exactly one cause for each relist (§6.5 of the semantics reference).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum RelistCause {
    /// The server no longer had the revision to watch from: 410.
    Expired {
        /// Why not.
        because: Stale,
    },
    /// The server had not reached the revision yet: 504 with cause `ResourceVersionTooLarge`.
    TooLargeResourceVersion,
    /// The watch ended within a second, before any event.
    VeryShortWatch,
    /// The watch sent an `ERROR` event of another code.
    WatchError {
        /// The code.
        code: u16,
    },
    /// The watch was refused.
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
    /// The server refused connections, and the client took that for a reason to list: client-go until 1.15.
    RefusedMisread,
    /// The list at a known revision was refused with 410: the revision was compacted.
    ListExpired,
    /// A page behind the first was refused with 410: the pages took longer than the server keeps revisions.
    ContinueExpired,
    /// The client's process was started anew.
    NewProcess,
    /// The client ended its watch and began from nothing.
    Rebuilt,
    /// The client watched again without a revision, so that the server sent all objects, although it could have resumed.
    WatchWithoutRevision,
    /// Nothing that was seen explains it.
    Unknown {
        /// What was not seen.
        reason: UnknownCause,
    },
}

/// Why a revision was no longer there to watch from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stale {
    /// No bookmark moved the client's revision on: it had not asked for them.
    BookmarksNotAsked,
    /// No bookmark moved the client's revision on, though it had asked for them: servers until 1.27 send none while a resource is quiet.
    NoBookmarks,
    /// The server's watch cache began anew, and holds only what came since.
    CacheRestarted,
    /// The revision is young, and the server's event window may have passed it all the same: it is of a fixed length (1.16 to 1.18), at its
    /// largest, or unknown. Or the watch cache began anew.
    WindowPassed,
    /// The client did not watch for a while, or did not read.
    ClientStalled,
    /// None of that was seen.
    Unknown,
}

/// What would have to be seen to name a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownCause {
    /// Observing had lost sight of the reflector.
    OutOfSight,
    /// The watch before ended as it should, and a client would resume it.
    WatchEndedWell,
    /// The server refused connections, and the client began from nothing: it was started anew, or its library does so.
    AfterRefusal,
    /// watchtap ended the connection.
    ByWatchtap,
    /// The client cancelled its watch and listed from where it was, as client-go does with an event that it cannot decode.
    Cancelled,
}

impl RelistCause {
    /// The identifier: of the cause, and after a slash what is known beyond it. The page's filter `cause:` takes it; `watchtap explain`
    /// takes rules and proofs only.
    pub fn id(self) -> String {
        self.to_string()
    }

    /// Whether the client has forgotten what it had, so that none of the list is a spurious update.
    pub const fn begins_from_nothing(self) -> bool {
        matches!(self, Self::NewProcess | Self::Rebuilt)
    }

    /// What happened, in one sentence.
    pub fn sentence(self) -> String {
        match self {
            Self::Expired { because } => format!("the revision to watch from was gone (410): {}", because.words()),
            Self::TooLargeResourceVersion => {
                "the server had not reached the client's revision (504, too large resource version)".to_owned()
            }
            Self::VeryShortWatch => "the watch was ended within a second, before any event".to_owned(),
            Self::WatchError { code } => format!("the watch ended with an ERROR event of code {code}"),
            Self::WatchRefused { status } => format!("the watch was refused with {status}"),
            Self::TooManyRequests => "the server had too many requests (429)".to_owned(),
            Self::StreamReset => "the server reset the stream of the watch".to_owned(),
            Self::ConnectionLost => "the connection of the watch was lost".to_owned(),
            Self::RefusedMisread => {
                "the server refused connections, and the client listed where later ones go on watching (client-go until 1.15)"
                    .to_owned()
            }
            Self::ListExpired => "the list at the client's revision was refused with 410: the revision was compacted".to_owned(),
            Self::ContinueExpired => {
                "a further page was refused with 410: the pages took longer than the server keeps revisions".to_owned()
            }
            Self::NewProcess => "the client's process was started anew".to_owned(),
            Self::Rebuilt => "the client ended its watch and began from nothing".to_owned(),
            Self::WatchWithoutRevision => "the client watched again without a revision, so the server sent all objects".to_owned(),
            Self::Unknown { reason } => format!("not known: {}", reason.words()),
        }
    }
}

impl fmt::Display for RelistCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired { because } => write!(formatter, "expired/{}", because.id()),
            Self::TooLargeResourceVersion => formatter.write_str("too-large-resource-version"),
            Self::VeryShortWatch => formatter.write_str("very-short-watch"),
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
            Self::BookmarksNotAsked => "bookmarks-not-asked",
            Self::NoBookmarks => "no-bookmarks",
            Self::CacheRestarted => "cache-restarted",
            Self::WindowPassed => "window-passed",
            Self::ClientStalled => "client-stalled",
            Self::Unknown => "unknown",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::BookmarksNotAsked => "no bookmark had moved it on, and the client had not asked for any",
            Self::NoBookmarks => "no bookmark had moved it on, though the client had asked for them",
            Self::CacheRestarted => "the server's watch cache had begun anew",
            Self::WindowPassed => "the server's event window had passed it, or its watch cache had begun anew",
            Self::ClientStalled => "the client had not watched, or not read, for a while",
            Self::Unknown => "why was not seen",
        }
    }
}

impl UnknownCause {
    const fn id(self) -> &'static str {
        match self {
            Self::OutOfSight => "out-of-sight",
            Self::WatchEndedWell => "watch-ended-well",
            Self::AfterRefusal => "after-refusal",
            Self::ByWatchtap => "by-watchtap",
            Self::Cancelled => "cancelled",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::OutOfSight => "part of the traffic before was not seen",
            Self::WatchEndedWell => "the watch before ended as it should",
            Self::AfterRefusal => {
                "the server had refused connections, and the client began from nothing; it was started anew, or its library does so"
            }
            Self::ByWatchtap => "watchtap had ended the connection",
            Self::Cancelled => "the client cancelled its watch, as it does with an event that it cannot decode",
        }
    }
}
