//! The columns of the routing tables. Each column has two types: the classes of requests (such as [`Token`]), and the
//! conditions of a row on these classes (such as [`TokenIs`]).
//!
//! A condition with the name of a class admits only that class. Any other condition has a docstring, or its name lists the classes
//! that it admits. `Any` also admits "not given".

use super::gates::Gate;

/// Class of the `continue` parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Token {
    Absent,
    /// Token with a revision above zero.
    Positive,
    /// Token that upstream calls "inconsistent continue": the server reads the latest revision.
    Negative,
    Invalid,
}

/// Condition on `continue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenIs {
    Any,
    Absent,
    /// Given, with any value.
    Set,
    Positive,
    Negative,
    Invalid,
}

/// Class of `resourceVersionMatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Match {
    Unset,
    Exact,
    NotOlderThan,
    Invalid,
}

/// Condition on `resourceVersionMatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchIs {
    Any,
    /// Given, with any value.
    Set,
    Unset,
    Exact,
    NotOlder,
    /// Unset or `NotOlderThan`.
    NotExact,
    /// Anything but `NotOlderThan`, unset included.
    NotNotOlder,
    Invalid,
    /// `Exact`, or unset with a limit ("legacy exact").
    ExactOrLegacy,
}

/// Class of `resourceVersion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Version {
    Unset,
    Zero,
    N,
    Invalid,
}

/// Condition on `resourceVersion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VersionIs {
    Any,
    Unset,
    Zero,
    UnsetOr0,
    N,
}

/// Condition on something that is present or absent: a limit, a selector, a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum If {
    Any,
    Yes,
    No,
}

/// Which keys a list reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// One key ("non-recursive"): the request names one object, and the key of that object can be built.
    One,
    /// A prefix ("recursive").
    Many,
}

/// Condition on the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeysAre {
    Any,
    One,
    Many,
}

/// Whether a snapshot of the wanted revision is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Snapshot {
    Held,
    /// The revision is above that of the cache.
    Ahead,
    /// The revision is below every snapshot.
    Gone,
}

/// Condition on the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SnapshotIs {
    Any,
    Held,
    Ahead,
    Gone,
}

/// How a watch got its `sendInitialEvents`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InitialEvents {
    Unset,
    False,
    True,
    /// Set to true by the server (kubernetes/apimachinery `pkg/apis/meta/internalversion/defaults.go` `SetListOptionsDefaults`).
    Rewritten,
}

/// Condition on `sendInitialEvents`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InitialIs {
    Any,
    Unset,
    /// Given, with any value.
    Set,
    False,
    True,
    Rewritten,
    TrueOrRewritten,
}

/// Condition on a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GateIs {
    Any,
    On(Gate),
    Off(Gate),
}

impl TokenIs {
    pub(super) fn admits(self, token: Token) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => token == Token::Absent,
            Self::Set => token != Token::Absent,
            Self::Positive => token == Token::Positive,
            Self::Negative => token == Token::Negative,
            Self::Invalid => token == Token::Invalid,
        }
    }
}

impl MatchIs {
    pub(super) fn admits(self, matching: Match, limit: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Set => matching != Match::Unset,
            Self::Unset => matching == Match::Unset,
            Self::Exact => matching == Match::Exact,
            Self::NotOlder => matching == Match::NotOlderThan,
            Self::NotExact => matches!(matching, Match::Unset | Match::NotOlderThan),
            Self::NotNotOlder => matching != Match::NotOlderThan,
            Self::Invalid => matching == Match::Invalid,
            Self::ExactOrLegacy => matching == Match::Exact || (matching == Match::Unset && limit),
        }
    }
}

impl VersionIs {
    pub(super) fn admits(self, version: Version) -> bool {
        match self {
            Self::Any => true,
            Self::Unset => version == Version::Unset,
            Self::Zero => version == Version::Zero,
            Self::UnsetOr0 => matches!(version, Version::Unset | Version::Zero),
            Self::N => version == Version::N,
        }
    }
}

impl If {
    pub(super) fn admits(self, holds: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Yes => holds,
            Self::No => !holds,
        }
    }
}

impl KeysAre {
    pub(super) fn admits(self, keys: Keys) -> bool {
        match self {
            Self::Any => true,
            Self::One => keys == Keys::One,
            Self::Many => keys == Keys::Many,
        }
    }
}

impl SnapshotIs {
    pub(super) fn admits(self, snapshot: Snapshot) -> bool {
        match self {
            Self::Any => true,
            Self::Held => snapshot == Snapshot::Held,
            Self::Ahead => snapshot == Snapshot::Ahead,
            Self::Gone => snapshot == Snapshot::Gone,
        }
    }
}

impl InitialIs {
    pub(super) fn admits(self, initial: InitialEvents) -> bool {
        match self {
            Self::Any => true,
            Self::Unset => initial == InitialEvents::Unset,
            Self::Set => matches!(initial, InitialEvents::True | InitialEvents::False),
            Self::False => initial == InitialEvents::False,
            Self::True => initial == InitialEvents::True,
            Self::Rewritten => initial == InitialEvents::Rewritten,
            Self::TrueOrRewritten => matches!(initial, InitialEvents::True | InitialEvents::Rewritten),
        }
    }
}
