//! The watches, requests and lists of one client after a fault, for one resource.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::exchange::Client;
use crate::observer::record::RequestRecord;
use crate::reflector::{ListEvent, RelistCause};
use crate::time::{Timestamp, microseconds};

/// Bound for different ends, failures or causes that are counted separately; all others count as [`REST`].
const MAX_WORDS: usize = 16;
const REST: &str = "other";
/// Maximum length of the text of an end or a failure, in bytes. It may contain a reason from the server.
const MAX_LENGTH: usize = 64;

/// The watches, requests and lists of a client between a fault and the next one, for one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultResponse {
    /// The client, as its requests identify it.
    pub client: Client,
    /// The resource, as users type it: `pods`, `deployments.apps`.
    pub resource: String,
    /// Accepted watches that ended, by their end.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub watches_ended: BTreeMap<String, u64>,
    /// Requests that failed, by status or end. For requests other than lists and watches, only 429, 5xx and missing responses
    /// count.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: BTreeMap<String, u64>,
    /// Watches that resumed without a list.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub resumes: u64,
    /// Time from the fault to the first resume, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_after_us: Option<u64>,
    /// First lists of reflectors.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub initial_lists: u64,
    /// Relists: lists, or watches with initial objects, of reflectors that had the objects before.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub relists: u64,
    /// Time from the fault to the first relist, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relisted_after_us: Option<u64>,
    /// Relists by cause.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub causes: BTreeMap<String, u64>,
    /// Objects of the complete relists.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub objects: u64,
    /// Objects among them that the client had in the same version.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub unchanged: u64,
}

impl FaultResponse {
    /// Notes the start of a relist at `at`, after the fault at `fault`.
    pub(super) fn relist_began(&mut self, cause: RelistCause, at: Timestamp, fault: Timestamp) {
        self.relists = self.relists.saturating_add(1);
        self.relisted_after_us.get_or_insert(microseconds(at.since(fault)));
        count(&mut self.causes, cause.id());
    }

    pub(super) const fn relisted(&mut self, list: &ListEvent) {
        self.objects = self.objects.saturating_add(list.items.or_zero());
        self.unchanged = self.unchanged.saturating_add(list.repeats.repeated.or_zero());
    }

    pub(super) const fn listed_first(&mut self) {
        self.initial_lists = self.initial_lists.saturating_add(1);
    }

    /// Notes a resume at `at`, after the fault at `fault`.
    pub(super) fn resumed(&mut self, at: Timestamp, fault: Timestamp) {
        self.resumes = self.resumes.saturating_add(1);
        self.resumed_after_us.get_or_insert(microseconds(at.since(fault)));
    }

    pub(super) fn watch_ended(&mut self, record: &RequestRecord) {
        count(&mut self.watches_ended, record.ending().unwrap_or_default());
    }

    pub(super) fn failed(&mut self, record: &RequestRecord) {
        let how = match record.status {
            Some(status) => format!("{status} {}", record.reason).trim_end().to_owned(),
            None => record.ending().unwrap_or_default(),
        };
        count(&mut self.failed, how);
    }
}

fn count(numbers: &mut BTreeMap<String, u64>, mut word: String) {
    word.truncate(word.floor_char_boundary(MAX_LENGTH));
    let word = if numbers.len() < MAX_WORDS || numbers.contains_key(&word) { word } else { REST.to_owned() };
    let number = numbers.entry(word).or_default();
    *number = number.saturating_add(1);
}
