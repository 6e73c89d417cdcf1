//! The type of a rule, and the macro that declares rules.

use std::fmt;

use serde::{Serialize, Serializer};

/// The stable identifier of a rule, such as `list-unset-etcd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(&'static str);

/// The reason why a layer answers a request. Rows of the routing tables refer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Unique among rules and proofs.
    pub id: RuleId,
    /// The reason in words, without a final full stop.
    pub sentence: &'static str,
    /// The sections of docs/semantics.md that state it, such as `§1.3 F 3, §1.4`.
    pub section: &'static str,
    /// The upstream source that decides it: repository, file, function, and the versions that were read.
    pub upstream: &'static str,
    /// The etcd reads that an answer by this rule causes.
    pub reads: ReadsOf,
}

/// The etcd reads that an answer by a rule causes (§4.1 of docs/semantics.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadsOf {
    /// No read of etcd.
    Nothing,
    /// The current revision: one Range of a key that does not exist.
    CurrentRevision,
    /// The object by its key, or a prefix with the request's limit.
    Objects,
    /// The current revision, then the objects at that revision.
    CurrentRevisionThenObjects,
    /// The objects, then a watch; or the watch alone where a revision is given.
    ObjectsThenWatch,
    /// Depends on facts that are unknown.
    Undecided,
}

impl RuleId {
    pub(super) const fn new(id: &'static str) -> Self {
        Self(id)
    }

    /// The identifier as text, such as `list-unset-etcd`.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

impl Serialize for RuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl fmt::Display for ReadsOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Nothing => "nothing",
            Self::CurrentRevision => "one Range of the resource's prefix without its slash, limit 1, for the current revision only",
            Self::Objects => "Range of the object's key, or of the prefix with the request's limit",
            Self::CurrentRevisionThenObjects => "the current revision, then Range of the prefix at that revision",
            Self::ObjectsThenWatch => "Range of the prefix, then a Watch of it; with a resourceVersion the Watch alone",
            Self::Undecided => "depends on the unknown fact",
        })
    }
}

/// Declares rules: a constant for each identifier, and the table `RULES`.
macro_rules! rules {
    ($($name:ident = $id:literal, $section:literal, $upstream:expr, $reads:ident, $sentence:literal;)*) => {
        $(
            #[doc = concat!("`", $id, "`")]
            pub const $name: RuleId = RuleId::new($id);
        )*

        pub(super) const RULES: &[Rule] = &[$(
            Rule { id: $name, sentence: $sentence, section: $section, upstream: $upstream, reads: ReadsOf::$reads }
        ),*];
    };
}

pub(super) use rules;
