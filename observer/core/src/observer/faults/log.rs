//! Collects the reactions of clients after each fault. A reaction counts for the latest fault before it. Lists and resumes count at
//! the time of their start, failures and ends of watches at the time of their end.

use std::collections::BTreeMap;
use std::time::Duration;

use super::record::{FaultRecord, Faults};
use super::response::FaultResponse;
use crate::exchange::Client;
use crate::k8s::Verb;
use crate::observer::event::Event;
use crate::observer::finding::Finding;
use crate::observer::record::RequestRecord;
use crate::time::Timestamp;

/// Bound for faults that are kept; the latest are kept.
const MAX_FAULTS: usize = 64;
/// Bound for the rows of all faults together; the rows of the earliest faults are dropped first.
const MAX_ROWS: usize = 768;
/// Bound for the rows of one fault.
const MAX_ROWS_EACH: usize = 256;
/// Bound for faults whose new findings are derived. Each derivation takes time in proportion to all reflectors, and a capture may
/// have any number of faults.
const MAX_COMPARED: u64 = 256;

/// The faults so far, and the findings that existed when the last fault began.
#[derive(Debug, Default)]
pub(in crate::observer) struct FaultLog {
    faults: Faults,
    /// Identifiers of findings, each with the number of its occurrences.
    known: BTreeMap<String, u64>,
}

impl FaultLog {
    pub(in crate::observer) const fn is_empty(&self) -> bool {
        self.faults.is_none()
    }

    /// Whether new findings will still be derived at the next fault.
    pub(in crate::observer) const fn compares_more(&self) -> bool {
        self.faults.times < MAX_COMPARED
    }

    /// Begins a fault. `findings` are all findings of the run before the fault.
    pub(in crate::observer) fn begin(&mut self, at: Timestamp, act: String, note: String, findings: &[Finding]) {
        let fresh = self.fresh(findings);
        if let Some(last) = self.faults.latest.back_mut() {
            last.findings = fresh;
        }
        self.known = occurrences(findings);
        self.faults.times = self.faults.times.saturating_add(1);
        if self.faults.latest.len() >= MAX_FAULTS {
            self.faults.latest.pop_front();
        }
        let fault = FaultRecord { at, act, note, clients: Vec::new(), clients_dropped: 0, uncounted: 0, findings: Vec::new() };
        self.faults.latest.push_back(fault);
    }

    /// The faults until now. `findings` are all findings of the run until now.
    pub(in crate::observer) fn until_now(&self, findings: &[Finding]) -> Faults {
        let mut faults = self.faults.clone();
        // Without a comparison at its start, every finding would look new.
        if self.faults.times <= MAX_COMPARED
            && let Some(last) = faults.latest.back_mut()
        {
            last.findings = self.fresh(findings);
        }
        faults
    }

    pub(in crate::observer) fn note(&mut self, event: &Event) {
        match event {
            Event::RelistBegan { began } => {
                self.on(began.at, &began.client, &began.shape.resource, |row, fault| {
                    row.relist_began(began.cause, began.at, fault);
                });
            }
            Event::Relist { list } => self.on(list.at, &list.client, &list.shape.resource, |row, _| row.relisted(list)),
            Event::InitialList { list } => self.on(list.at, &list.client, &list.shape.resource, |row, _| row.listed_first()),
            Event::Resume { resume } => {
                self.on(resume.at, &resume.client, &resume.shape.resource, |row, fault| row.resumed(resume.at, fault));
            }
            Event::Request { record } if is_failure(record) => {
                self.on(ended_at(record), &record.client, &record.shape.resource, |row, _| row.failed(record));
            }
            Event::WatchEnded { ended_at, record } if is_failure(record) => {
                self.on(*ended_at, &record.client, &record.shape.resource, |row, _| row.failed(record));
            }
            Event::WatchEnded { ended_at, record } => {
                self.on(*ended_at, &record.client, &record.shape.resource, |row, _| row.watch_ended(record));
            }
            Event::Request { .. }
            | Event::Fault { .. }
            | Event::Profile { .. }
            | Event::ConnectionOpened { .. }
            | Event::ConnectionClosed { .. }
            | Event::GoAway { .. }
            | Event::WatchOpened { .. }
            | Event::Stuck { .. }
            | Event::Stalled { .. }
            | Event::StallEnded { .. }
            | Event::TroubleBegan { .. }
            | Event::TroubleEnded { .. }
            | Event::StormBegan { .. }
            | Event::StormEnded { .. }
            | Event::Contradicted { .. }
            | Event::Upgraded { .. }
            | Event::Missed { .. }
            | Event::Malformed { .. }
            | Event::DecodingStopped { .. }
            | Event::DecoderFailed { .. }
            | Event::Listener { .. }
            | Event::ConnectFailed { .. }
            | Event::NotProbed { .. }
            | Event::CaptureEnded { .. }
            | Event::Unrecorded { .. } => {}
        }
    }

    /// Calls `act` with the row of this client and resource, and with the time of its fault.
    fn on(&mut self, at: Timestamp, client: &Client, resource: &str, act: impl FnOnce(&mut FaultResponse, Timestamp)) {
        self.make_room();
        let Some(fault) = self.faults.latest.iter_mut().rev().find(|fault| fault.at <= at) else { return };
        let is_it = |row: &FaultResponse| row.client == *client && row.resource == resource;
        let index = fault.clients.iter().position(is_it).or_else(|| {
            let row = || FaultResponse { client: client.clone(), resource: resource.to_owned(), ..FaultResponse::default() };
            (fault.clients.len() < MAX_ROWS_EACH).then(|| fault.clients.push(row())).map(|()| fault.clients.len() - 1)
        });
        match index.and_then(|index| fault.clients.get_mut(index)) {
            Some(row) => act(row, fault.at),
            None => fault.uncounted = fault.uncounted.saturating_add(1),
        }
    }

    /// Drops the rows of the earliest fault that has any, if there is no room for another row.
    fn make_room(&mut self) {
        let rows: usize = self.faults.latest.iter().map(|fault| fault.clients.len()).sum();
        if rows >= MAX_ROWS
            && let Some(first) = self.faults.latest.iter_mut().find(|fault| !fault.clients.is_empty())
        {
            first.clients_dropped = first.clients.len() as u64;
            first.clients = Vec::new();
        }
    }

    /// The findings among `findings` that are new, or occurred again, since the last fault.
    fn fresh(&self, findings: &[Finding]) -> Vec<String> {
        let now = occurrences(findings);
        now.into_iter().filter(|(id, times)| self.known.get(id).is_none_or(|before| before < times)).map(|(id, _)| id).collect()
    }
}

fn occurrences(findings: &[Finding]) -> BTreeMap<String, u64> {
    findings.iter().map(|finding| (finding.id.clone(), finding.spell.map_or(0, |spell| spell.times))).collect()
}

/// The end of a request; its start while it is open.
fn ended_at(record: &RequestRecord) -> Timestamp {
    record.at.plus(Duration::from_micros(record.total_us.unwrap_or_default()))
}

/// Whether a request for a resource failed, perhaps because of a fault. For requests other than lists and watches, 4xx except 429
/// does not count: controllers get 404 and 409 in normal operation.
fn is_failure(record: &RequestRecord) -> bool {
    let failed = match record.status {
        None | Some(429 | 500..) => true,
        Some(400..) => matches!(record.verb, Some(Verb::List | Verb::Watch)),
        Some(_) => false,
    };
    failed && record.shape.scope.is_some()
}
