//! The names that a filter can use: facts of rows, and numbers in columns.

/// A fact that a filter can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FilterKey {
    Client,
    Resource,
    Scope,
    State,
    Cause,
    Verb,
    Served,
    Rule,
    Kind,
}

/// A column of numbers that a filter can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NumberKey {
    Relists,
    Resumes,
    Items,
    Unchanged,
    Bytes,
    Events,
    Rate,
    Behind,
    InState,
    Requests,
    Failed,
    FirstByte,
    Total,
    Reflectors,
    Clients,
    Peak,
    JoinedIn,
    Stuck,
    Watching,
    Lists,
    Watches,
}

/// The kind of a number, which decides its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// A count, or a rate per second.
    Plain,
    Bytes,
    /// Seconds.
    Duration,
}

impl FilterKey {
    /// All of them, in the order of the help.
    pub(super) const ALL: [Self; 9] =
        [Self::Client, Self::Resource, Self::Scope, Self::State, Self::Cause, Self::Verb, Self::Served, Self::Rule, Self::Kind];

    /// The word to type.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Resource => "resource",
            Self::Scope => "scope",
            Self::State => "state",
            Self::Cause => "cause",
            Self::Verb => "verb",
            Self::Served => "served",
            Self::Rule => "rule",
            Self::Kind => "kind",
        }
    }

    pub(super) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.as_str() == word)
    }
}

impl NumberKey {
    /// All of them, in the order of the help.
    pub(super) const ALL: [Self; 21] = [
        Self::Relists,
        Self::Resumes,
        Self::Items,
        Self::Unchanged,
        Self::Bytes,
        Self::Events,
        Self::Rate,
        Self::Behind,
        Self::InState,
        Self::Requests,
        Self::Failed,
        Self::FirstByte,
        Self::Total,
        Self::Reflectors,
        Self::Clients,
        Self::Peak,
        Self::JoinedIn,
        Self::Stuck,
        Self::Watching,
        Self::Lists,
        Self::Watches,
    ];

    /// The word to type.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Relists => "relists",
            Self::Resumes => "resumes",
            Self::Items => "objects",
            Self::Unchanged => "unchanged",
            Self::Bytes => "bytes",
            Self::Events => "events",
            Self::Rate => "rate",
            Self::Behind => "behind",
            Self::InState => "in-state",
            Self::Requests => "n",
            Self::Failed => "failed",
            Self::FirstByte => "first-byte",
            Self::Total => "total",
            Self::Reflectors => "reflectors",
            Self::Clients => "clients",
            Self::Peak => "peak",
            Self::JoinedIn => "joined-in",
            Self::Stuck => "stuck",
            Self::Watching => "watching",
            Self::Lists => "lists",
            Self::Watches => "watches",
        }
    }

    /// The key of a typed word. `items` also stands for `objects`.
    pub(super) fn of(word: &str) -> Option<Self> {
        let word = if word == "items" { Self::Items.as_str() } else { word };
        Self::ALL.into_iter().find(|key| key.as_str() == word)
    }

    /// The kind of its numbers.
    pub(super) const fn measure(self) -> Measure {
        match self {
            Self::Bytes => Measure::Bytes,
            Self::InState | Self::FirstByte | Self::Total | Self::JoinedIn => Measure::Duration,
            Self::Relists
            | Self::Resumes
            | Self::Items
            | Self::Unchanged
            | Self::Events
            | Self::Rate
            | Self::Behind
            | Self::Requests
            | Self::Failed
            | Self::Reflectors
            | Self::Clients
            | Self::Peak
            | Self::Stuck
            | Self::Watching
            | Self::Lists
            | Self::Watches => Measure::Plain,
        }
    }
}
