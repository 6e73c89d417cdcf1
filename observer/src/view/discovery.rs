//! Folds the discovery requests of a client into one line. A client requests about a hundred documents before its first list.

use std::time::{Duration, Instant};

use observer_core::observer::RequestRecord;
use observer_core::quantity::Amount;
use observer_core::time::Timestamp;

use super::client::program;
use super::quantity::{bytes, counted, length};

/// The discovery requests of one client since the last line.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    folded: Option<Folded>,
}

#[derive(Debug)]
struct Folded {
    program: String,
    requests: u64,
    failed: u64,
    bytes: Amount,
    microseconds: u64,
    latest: Timestamp,
    begun: Instant,
}

/// How long a line waits for more requests.
const OPEN_FOR: Duration = Duration::from_secs(1);

impl Discovery {
    /// Adds a request. If the request before it was of another program, returns the line of that program.
    pub(super) fn add(&mut self, record: &RequestRecord) -> Option<String> {
        let program = program(&record.client);
        let is_another = self.folded.as_ref().is_some_and(|folded| folded.program != program);
        let former = if is_another { self.folded() } else { None };
        let folded = self.folded.get_or_insert(Folded {
            program,
            requests: 0,
            failed: 0,
            bytes: Amount::ZERO,
            microseconds: 0,
            latest: record.at,
            begun: Instant::now(),
        });
        folded.requests += 1;
        folded.latest = record.at.plus(Duration::from_micros(record.total_us.unwrap_or_default()));
        folded.failed += u64::from(record.status.is_none_or(|status| status >= 400));
        folded.bytes = folded.bytes.saturating_add(record.bytes);
        folded.microseconds = folded.microseconds.saturating_add(record.total_us.unwrap_or_default());
        former
    }

    /// The time of the latest request, once the line has waited long enough.
    pub(super) fn is_due(&self) -> Option<Timestamp> {
        self.folded.as_ref().filter(|folded| folded.begun.elapsed() >= OPEN_FOR).map(|folded| folded.latest)
    }

    /// The line for all requests so far.
    pub(super) fn folded(&mut self) -> Option<String> {
        let folded = self.folded.take()?;
        let failed = if folded.failed == 0 { String::new() } else { format!(", {} failed", folded.failed) };
        Some(format!(
            "{} discovery: {}{failed} → {} {}",
            folded.program,
            counted(folded.requests, "request"),
            bytes(folded.bytes),
            length(Duration::from_micros(folded.microseconds))
        ))
    }
}

/// Whether a request is discovery: `/api`, `/apis`, `/openapi` and the paths below them. Requests for a resource, which have a
/// scope, are not discovery.
pub(super) fn is_discovery(record: &RequestRecord) -> bool {
    let first = record.shape.resource.strip_prefix('/').and_then(|path| path.split('/').next());
    record.shape.scope.is_none() && matches!(first, Some("api" | "apis" | "openapi"))
}
