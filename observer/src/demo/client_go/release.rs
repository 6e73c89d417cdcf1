//! The releases of client-go that are played, and in what they differ.

/// A release of client-go. Each stands for those around it that behave alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demo) enum ClientGo {
    /// Until 1.15: takes a refused connection for a failed watch and lists again, from the cache; asks for no bookmarks.
    V1_15,
    /// 1.18.0 to 1.18.5: lists again from its own revision, and does not know the answer "too large resource version".
    V1_18_2,
    /// 1.28 to 1.34: falls back to a list without a revision.
    V1_34,
    /// From 1.35 on: asks for its lists as a stream.
    V1_36,
}

impl ClientGo {
    /// All of them, the oldest first.
    pub(in crate::demo) const ALL: [Self; 4] = [Self::V1_15, Self::V1_18_2, Self::V1_34, Self::V1_36];

    /// As a script names it.
    pub(in crate::demo) const fn as_str(self) -> &'static str {
        match self {
            Self::V1_15 => "1.15",
            Self::V1_18_2 => "1.18.2",
            Self::V1_34 => "1.34",
            Self::V1_36 => "1.36",
        }
    }

    /// Whether a list begins as a stream of events.
    pub(super) const fn streams_lists(self) -> bool {
        matches!(self, Self::V1_36)
    }

    /// Whether watches ask for bookmarks.
    pub(super) const fn asks_for_bookmarks(self) -> bool {
        !matches!(self, Self::V1_15)
    }

    /// Whether another list begins from where the reflector was; before, each begins anew.
    pub(super) const fn lists_from_its_revision(self) -> bool {
        !matches!(self, Self::V1_15)
    }

    /// Whether it understands the answer "too large resource version" to a list.
    pub(super) const fn knows_too_large(self) -> bool {
        matches!(self, Self::V1_34 | Self::V1_36)
    }

    /// What it does when the connection for a watch is refused.
    pub(super) const fn when_refused(self) -> WhenRefused {
        match self {
            Self::V1_15 => WhenRefused::ListAgain,
            Self::V1_18_2 => WhenRefused::WatchAfterASecond,
            Self::V1_34 | Self::V1_36 => WhenRefused::WatchAfterBackoff,
        }
    }

    /// Whether the pause before another list grows; before, it is a second.
    pub(super) const fn backs_off(self) -> bool {
        !matches!(self, Self::V1_15)
    }

    /// Whether the transport repeats a watch that failed, as it repeats a list; and whether 429 makes the reflector watch again.
    pub(super) const fn repeats_watches(self) -> bool {
        matches!(self, Self::V1_34 | Self::V1_36)
    }

    /// What it accepts.
    pub(super) const fn accept(self) -> &'static str {
        match self {
            Self::V1_15 | Self::V1_18_2 => "application/json, */*",
            Self::V1_34 | Self::V1_36 => "application/vnd.kubernetes.protobuf,application/json",
        }
    }
}

/// What follows a refused connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenRefused {
    ListAgain,
    WatchAfterASecond,
    WatchAfterBackoff,
}
