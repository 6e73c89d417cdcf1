//! The quantities of cost that a budget can limit, such as lists, items and bytes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A quantity that a budget can limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Finished lists; each page counts on its own.
    Lists,
    /// Lists that read their objects from etcd. Reads of single objects, such as the leases of leader election, are not lists.
    ListsFromEtcd,
    /// Items of all lists, including the initial objects of watches that begin with all objects.
    Items,
    /// Bytes of response bodies.
    Bytes,
    /// Relists, including watches that send all objects again.
    Relists,
    /// Additional reflectors of one process that listed or watched the same objects at the same time. The first of them does not
    /// count.
    DuplicateInformers,
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Self; 6] =
        [Self::Lists, Self::ListsFromEtcd, Self::Items, Self::Bytes, Self::Relists, Self::DuplicateInformers];

    /// Whether it varies between runs of an unchanged client, because objects are created and deleted.
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
