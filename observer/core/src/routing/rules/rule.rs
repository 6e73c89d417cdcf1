//! What a rule is.

use std::fmt;

use serde::{Serialize, Serializer};

/// The stable identifier of a rule, such as `list-unset-etcd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(&'static str);

/// Why a request is answered by the layer that answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its identifier.
    pub id: RuleId,
    /// The reason in words.
    pub sentence: &'static str,
    /// Where docs/semantics.md states it.
    pub section: &'static str,
    /// The upstream source that decides it, with the versions that were read.
    pub upstream: &'static str,
    /// What it reads from etcd.
    pub reads: ReadsOf,
}

/// What answering by a rule reads from etcd (§4.1 of docs/semantics.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadsOf {
    /// Nothing.
    Nothing,
    /// The current revision: one Range of a key that does not exist.
    CurrentRevision,
    /// The objects.
    Objects,
    /// The current revision, then the objects at that revision.
    CurrentRevisionThenObjects,
    /// The objects, then a watch; or the watch alone where a revision is given.
    ObjectsThenWatch,
    /// That depends on the rule that turns out to hold.
    Undecided,
}

impl RuleId {
    pub(super) const fn new(id: &'static str) -> Self {
        Self(id)
    }

    /// The text.
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
            Self::Undecided => "depends on what is not known",
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
