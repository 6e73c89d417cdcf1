//! What is counted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a budget limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Finished lists, pages one by one.
    Lists,
    /// Those among them that read their objects from etcd. Single objects, the leases of leader election among them, are no lists.
    ListsFromEtcd,
    /// Items of all lists, and of watches that begin with all objects.
    Items,
    /// Bytes of response bodies.
    Bytes,
    /// Lists of reflectors that had one.
    Relists,
    /// Reflectors beyond the first that listed or watched the same in one process at once.
    DuplicateInformers,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Lists, Self::ListsFromEtcd, Self::Items, Self::Bytes, Self::Relists, Self::DuplicateInformers];

    /// Whether it differs a little from one run to the next without any change in the client: objects come and go.
    pub const fn drifts(self) -> bool {
        matches!(self, Self::Items | Self::Bytes)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Lists => "lists",
            Self::ListsFromEtcd => "lists from etcd",
            Self::Items => "items",
            Self::Bytes => "bytes",
            Self::Relists => "relists",
            Self::DuplicateInformers => "duplicate informers",
        })
    }
}
