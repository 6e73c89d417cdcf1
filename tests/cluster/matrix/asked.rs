//! The measurement of a row, before it is compared with watchtap's verdict.

use super::measured::{Measured, Seen, in_letters};
use super::resource::Resource;
use super::row::Row;

/// A circumstance of the request that is not visible in the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// The watch cache was not ready.
    CacheNotReady,
    /// The tap could not see the revision as current.
    Unseen,
    /// The situation did not occur, with the reason.
    NotProvoked(String),
}

#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) configuration: String,
    pub(super) resource: String,
    pub(super) row: String,
    /// The request with its placeholders.
    pub(super) shape: String,
    /// The request's method; empty if it was not sent.
    pub(super) method: &'static str,
    pub(super) path: String,
    /// The `User-Agent`, which identifies the tap's event.
    pub(super) agent: String,
    pub(super) status: u16,
    /// `None` if the counters stayed unclear.
    pub(super) measured: Option<Measured>,
    pub(super) counters: String,
    pub(super) remarks: Vec<Remark>,
}

impl Asked {
    /// A row without a request yet.
    pub(super) fn of(row: &Row, resource: &Resource, configuration: &str) -> Self {
        Self {
            configuration: configuration.to_owned(),
            resource: resource.name(),
            row: row.name.to_owned(),
            shape: row.shape(),
            method: "",
            path: String::new(),
            agent: String::new(),
            status: 0,
            measured: None,
            counters: String::new(),
            remarks: Vec::new(),
        }
    }

    pub(super) fn by(self, agent: &str, method: &'static str, path: String) -> Self {
        Self { agent: agent.to_owned(), method, path, ..self }
    }

    pub(super) fn measured(self, measured: Option<Measured>, seen: &Seen, remarks: &[Remark]) -> Self {
        Self { status: seen.status, measured, counters: in_letters(seen.moved), remarks: remarks.to_vec(), ..self }
    }

    pub(super) fn not_provoked(self, reason: &str) -> Self {
        Self { remarks: vec![Remark::NotProvoked(reason.to_owned())], ..self }
    }
}
