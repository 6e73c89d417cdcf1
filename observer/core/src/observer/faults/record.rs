//! Faults as plain data, for snapshots and reports.

use std::collections::VecDeque;

use serde::Serialize;

use super::response::FaultResponse;
use crate::time::Timestamp;

/// A fault, and the reactions of clients until the next fault. They happened *after* the fault, but not always *because* of it:
/// relists have causes of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultRecord {
    /// When it began.
    pub at: Timestamp,
    /// The fault, in the words of the script: `restart for=3s`.
    pub act: String,
    /// The message that the script printed before it; empty if there was none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The clients whose watches ended, whose requests failed, or that listed or resumed, by resource.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<FaultResponse>,
    /// Rows of `clients` that were dropped to make room for rows of later faults.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub clients_dropped: u64,
    /// Ends of watches, failures, lists and resumes that are in no row, because the fault had too many rows.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub uncounted: u64,
    /// Identifiers of findings that were new, or occurred again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// All faults of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Faults {
    /// Number of faults.
    pub times: u64,
    /// The latest faults, in order.
    pub latest: VecDeque<FaultRecord>,
}

impl Faults {
    /// Whether there was no fault.
    pub const fn is_none(&self) -> bool {
        self.times == 0
    }

    /// Number of earlier faults that were dropped.
    pub fn dropped(&self) -> u64 {
        self.times.saturating_sub(self.latest.len() as u64)
    }

    /// Removes the findings with identifiers for which `is_muted` is true.
    pub(in crate::observer) fn mute(&mut self, is_muted: impl Fn(&str) -> bool) {
        self.latest.iter_mut().for_each(|fault| fault.findings.retain(|id| !is_muted(id)));
    }
}
