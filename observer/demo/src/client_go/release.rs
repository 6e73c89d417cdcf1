//! The client-go releases of the demo, and their differences.

/// A release of client-go. Each stands for a range of releases with the same behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientGo {
    /// Until 1.15: treats a refused connection as a failed watch, and relists from the cache; requests no bookmarks.
    V1_15,
    /// 1.18.0 to 1.18.5: relists from its own revision, and does not know the answer "too large resource version".
    V1_18_2,
    /// 1.28 to 1.34: falls back to a list without a revision.
    V1_34,
    /// From 1.35 on: requests streaming lists.
    V1_36,
}

impl ClientGo {
    /// All releases, oldest first.
    pub(crate) const ALL: [Self; 4] = [Self::V1_15, Self::V1_18_2, Self::V1_34, Self::V1_36];

    /// Its name in a script.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::V1_15 => "1.15",
            Self::V1_18_2 => "1.18.2",
            Self::V1_34 => "1.34",
            Self::V1_36 => "1.36",
        }
    }

    /// Whether it begins with a streaming list.
    pub(super) const fn streams_lists(self) -> bool {
        matches!(self, Self::V1_36)
    }

    /// Whether watches request bookmarks.
    pub(super) const fn asks_for_bookmarks(self) -> bool {
        !matches!(self, Self::V1_15)
    }

    /// Whether a relist begins at the reflector's own revision; otherwise at 0.
    pub(super) const fn lists_from_its_revision(self) -> bool {
        !matches!(self, Self::V1_15)
    }

    /// Whether it knows the answer "too large resource version" to a list.
    pub(super) const fn knows_too_large(self) -> bool {
        matches!(self, Self::V1_34 | Self::V1_36)
    }

    /// The step after a refused connection for a watch.
    pub(super) const fn when_refused(self) -> WhenRefused {
        match self {
            Self::V1_15 => WhenRefused::ListAgain,
            Self::V1_18_2 => WhenRefused::WatchAfterASecond,
            Self::V1_34 | Self::V1_36 => WhenRefused::WatchAfterBackoff,
        }
    }

    /// Whether the pause before a relist grows; otherwise it is one second.
    pub(super) const fn backs_off(self) -> bool {
        !matches!(self, Self::V1_15)
    }

    /// Whether the transport repeats a failed watch, as it repeats a list, and whether the reflector repeats a watch after 429.
    pub(super) const fn repeats_watches(self) -> bool {
        matches!(self, Self::V1_34 | Self::V1_36)
    }

    /// The value of its `Accept` field.
    pub(super) const fn accept(self) -> &'static str {
        match self {
            Self::V1_15 | Self::V1_18_2 => "application/json, */*",
            Self::V1_34 | Self::V1_36 => "application/vnd.kubernetes.protobuf,application/json",
        }
    }
}

/// The step after a refused connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenRefused {
    ListAgain,
    WatchAfterASecond,
    WatchAfterBackoff,
}
