//! The words of labels of reflectors: states, causes, blockages.

use super::word::words;
use crate::observation::Blockage;
use crate::reflector::{ReflectorState, RelistCause, Stale, UnknownCause};

words! {
    /// The state of a reflector.
    StateWord {
        /// It repeatedly asks for a revision that the server does not reach.
        Stuck = "stuck",
        /// It lists, or retries a list.
        Listing = "listing",
        /// It has a list and does not watch.
        Listed = "listed",
        /// Its watch ended or was refused, and no request followed.
        Waiting = "waiting",
        /// It watches, but does not read.
        Stalled = "stalled",
        /// It watches.
        Watching = "watching",
    }
}

words! {
    /// Why a reflector begins with a list.
    ListKindWord {
        /// It is new.
        First = "first",
        /// The client's process was restarted.
        NewProcess = "new-process",
        /// The client rebuilt its informer.
        Rebuilt = "rebuilt",
    }
}

words! {
    /// The cause of a relist: the identifiers of `RelistCause`, without status codes.
    CauseWord {
        /// 410: no bookmark advanced the revision, and the client had requested none.
        BookmarksNotRequested = "expired/bookmarks-not-requested",
        /// 410: the server sent no bookmarks.
        NoBookmarks = "expired/no-bookmarks",
        /// 410: the watch cache was reset.
        CacheReset = "expired/cache-reset",
        /// 410: the revision was older than the event window.
        WindowPassed = "expired/window-passed",
        /// 410: the client did not watch, or did not read.
        ClientStalled = "expired/client-stalled",
        /// 410: for an unknown reason.
        Expired = "expired/unknown",
        /// 504: the server had not reached the revision.
        TooLargeResourceVersion = "too-large-resource-version",
        /// The watch ended within a second.
        VeryShortWatch = "very-short-watch",
        /// The server closed the watch by force.
        ClosedByForce = "closed-by-force",
        /// An `ERROR` event of any other code.
        WatchError = "watch-error",
        /// Any other refusal.
        WatchRefused = "watch-refused",
        /// 429.
        TooManyRequests = "too-many-requests",
        /// The server reset the stream.
        StreamReset = "stream-reset",
        /// The connection was lost.
        ConnectionLost = "connection-lost",
        /// client-go up to 1.15 relists after refused connections.
        RefusedMisread = "refused-misread",
        /// 410 of a list: its revision was compacted.
        ListExpired = "list-expired",
        /// 410 of a later page.
        ContinueExpired = "continue-expired",
        /// The client watched without a revision.
        WatchWithoutRevision = "watch-without-revision",
        /// Part of the traffic was not observed.
        NotObserved = "unknown/not-observed",
        /// A client would resume such a watch.
        WatchEndedNormally = "unknown/watch-ended-normally",
        /// The server had refused connections.
        AfterRefusal = "unknown/after-refusal",
        /// watchtap ended the connection.
        ByWatchtap = "unknown/by-watchtap",
        /// The client cancelled its watch.
        Cancelled = "unknown/cancelled",
        /// The end of its watch is in a log, without its reason.
        EndNotLogged = "unknown/end-not-logged",
    }
}

words! {
    /// The reason why a server cannot send.
    BlockageWord {
        /// The stream's flow-control window.
        StreamWindow = "stream_window",
        /// The connection's flow-control window.
        ConnectionWindow = "connection_window",
        /// The client's socket.
        Socket = "socket",
    }
}

impl StateWord {
    pub(crate) const fn of(state: ReflectorState) -> Self {
        match state {
            ReflectorState::Stuck => Self::Stuck,
            ReflectorState::Listing => Self::Listing,
            ReflectorState::Listed => Self::Listed,
            ReflectorState::Waiting => Self::Waiting,
            ReflectorState::Stalled => Self::Stalled,
            ReflectorState::Watching => Self::Watching,
        }
    }
}

impl ListKindWord {
    /// The kind of a list with this cause; `None` for a relist of a client that had its state.
    pub(crate) const fn of(cause: Option<RelistCause>) -> Option<Self> {
        match cause {
            None => Some(Self::First),
            Some(RelistCause::NewProcess) => Some(Self::NewProcess),
            Some(RelistCause::Rebuilt) => Some(Self::Rebuilt),
            Some(_) => None,
        }
    }
}

impl CauseWord {
    /// The word of a cause; `None` if the client had lost its state, so that its list is no relist.
    pub(crate) const fn of(cause: RelistCause) -> Option<Self> {
        Some(match cause {
            RelistCause::Expired { because } => match because {
                Stale::BookmarksNotRequested => Self::BookmarksNotRequested,
                Stale::NoBookmarks => Self::NoBookmarks,
                Stale::CacheReset => Self::CacheReset,
                Stale::WindowPassed => Self::WindowPassed,
                Stale::ClientStalled => Self::ClientStalled,
                Stale::Unknown => Self::Expired,
            },
            RelistCause::TooLargeResourceVersion => Self::TooLargeResourceVersion,
            RelistCause::VeryShortWatch => Self::VeryShortWatch,
            RelistCause::ClosedByForce => Self::ClosedByForce,
            RelistCause::WatchError { .. } => Self::WatchError,
            RelistCause::WatchRefused { .. } => Self::WatchRefused,
            RelistCause::TooManyRequests => Self::TooManyRequests,
            RelistCause::StreamReset => Self::StreamReset,
            RelistCause::ConnectionLost => Self::ConnectionLost,
            RelistCause::RefusedMisread => Self::RefusedMisread,
            RelistCause::ListExpired => Self::ListExpired,
            RelistCause::ContinueExpired => Self::ContinueExpired,
            RelistCause::WatchWithoutRevision => Self::WatchWithoutRevision,
            RelistCause::Unknown { reason } => match reason {
                UnknownCause::NotObserved => Self::NotObserved,
                UnknownCause::WatchEndedNormally => Self::WatchEndedNormally,
                UnknownCause::AfterRefusal => Self::AfterRefusal,
                UnknownCause::ByWatchtap => Self::ByWatchtap,
                UnknownCause::Cancelled => Self::Cancelled,
                UnknownCause::EndNotLogged => Self::EndNotLogged,
            },
            RelistCause::NewProcess | RelistCause::Rebuilt => return None,
        })
    }
}

impl BlockageWord {
    pub(crate) const fn of(blockage: Blockage) -> Self {
        match blockage {
            Blockage::StreamWindow => Self::StreamWindow,
            Blockage::ConnectionWindow => Self::ConnectionWindow,
            Blockage::Socket => Self::Socket,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflector::{cause_names, causes_named};

    #[test]
    fn words_of_causes_are_their_identifiers_without_codes() {
        let mut words: Vec<&str> = Vec::new();
        for named in cause_names().flat_map(|name| causes_named(&name)) {
            let id = named.cause.id();
            let id = if named.is_of_any_code { id.trim_end_matches("/0") } else { &id };
            let word = CauseWord::of(named.cause).and_then(|word| CauseWord::WORDS.get(word as usize));
            let kind = ListKindWord::of(Some(named.cause)).and_then(|word| ListKindWord::WORDS.get(word as usize));
            assert_eq!(word.xor(kind), Some(&id), "{id}");
            words.extend(word);
        }
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), CauseWord::WORDS.len());
    }

    #[test]
    fn words_of_states_are_those_of_the_report() {
        let states = [
            ReflectorState::Stuck,
            ReflectorState::Listing,
            ReflectorState::Listed,
            ReflectorState::Waiting,
            ReflectorState::Stalled,
            ReflectorState::Watching,
        ];
        let words = states.map(|state| (StateWord::WORDS[StateWord::of(state) as usize], serde_json::to_value(state).unwrap()));
        assert!(words.iter().all(|(word, reported)| reported == word), "{words:?}");
        assert_eq!(words.len(), StateWord::WORDS.len());
    }
}
