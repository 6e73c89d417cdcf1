//! A row of one of the three tables of requests, behind one interface.

use observer_core::exchange::Shape;
use observer_core::k8s::Verb;
use observer_core::observer::{ListRow, OtherRow, RequestRecord, Snapshot, VerdictRecord, WatchRow};
use observer_core::quantity::Amount;
use observer_core::routing::{Certainty, ServedFrom};

use super::row::RequestKey;

/// Requests of one shape that one rule answered.
#[derive(Clone, Copy, Debug)]
pub(super) enum RequestRow<'s> {
    List(&'s ListRow),
    Watch(&'s WatchRow),
    Other(&'s OtherRow),
}

impl<'s> RequestRow<'s> {
    /// All rows of a snapshot: lists, watches, then everything else, each with the most bytes first.
    pub(super) fn all(snapshot: &'s Snapshot) -> impl Iterator<Item = Self> {
        let lists = snapshot.lists.iter().map(Self::List);
        let watches = snapshot.watches.iter().map(Self::Watch);
        lists.chain(watches).chain(snapshot.others.iter().map(Self::Other))
    }

    pub(super) const fn verb(self) -> Option<Verb> {
        match self {
            Self::List(_) => Some(Verb::List),
            Self::Watch(_) => Some(Verb::Watch),
            Self::Other(row) => row.verb,
        }
    }

    pub(super) const fn shape(self) -> &'s Shape {
        match self {
            Self::List(row) => &row.shape,
            Self::Watch(row) => &row.shape,
            Self::Other(row) => &row.shape,
        }
    }

    pub(super) const fn verdict(self) -> Option<&'s VerdictRecord> {
        match self {
            Self::List(row) => row.verdict.as_ref(),
            Self::Watch(row) => row.verdict.as_ref(),
            Self::Other(row) => row.verdict.as_ref(),
        }
    }

    pub(super) const fn count(self) -> u64 {
        match self {
            Self::List(row) => row.count,
            Self::Watch(row) => row.count,
            Self::Other(row) => row.count,
        }
    }

    pub(super) const fn failed(self) -> u64 {
        match self {
            Self::List(row) => row.failed,
            Self::Watch(row) => row.failed,
            Self::Other(row) => row.failed,
        }
    }

    pub(super) const fn bytes(self) -> Amount {
        match self {
            Self::List(row) => row.bytes,
            Self::Watch(row) => row.bytes,
            Self::Other(row) => row.bytes,
        }
    }

    pub(super) const fn etcd_reads_vary(self) -> bool {
        match self {
            Self::List(row) => row.etcd_reads_vary,
            Self::Watch(row) => row.etcd_reads_vary,
            Self::Other(row) => row.etcd_reads_vary,
        }
    }

    /// The facts that all of its requests share.
    pub(super) fn key(self) -> RequestKey {
        key(self.verb(), self.shape(), self.verdict())
    }
}

/// The key of the row that a single request belongs to.
pub(super) fn key_of(record: &RequestRecord) -> RequestKey {
    key(record.verb, &record.shape, record.verdict.as_ref())
}

fn key(verb: Option<Verb>, shape: &Shape, verdict: Option<&VerdictRecord>) -> RequestKey {
    RequestKey {
        verb,
        shape: shape.clone(),
        rule: verdict.map(|verdict| verdict.rule),
        layer: verdict.and_then(|verdict| verdict.served_from.layer()),
        refused: verdict.and_then(|verdict| refusal(&verdict.served_from)),
        contradicted: verdict.is_some_and(|verdict| verdict.certainty == Certainty::Contradicted),
    }
}

const fn refusal(served_from: &ServedFrom) -> Option<u16> {
    match served_from {
        ServedFrom::Rejected { status, .. } => Some(*status),
        ServedFrom::Cache
        | ServedFrom::CacheConsistent
        | ServedFrom::Snapshot
        | ServedFrom::Etcd
        | ServedFrom::Proxied
        | ServedFrom::Unknown { .. } => None,
    }
}
