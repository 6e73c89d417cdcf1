//! The plan of a verification, and its progress.

use std::time::Duration;

use observer_core::verification::{Shape, Target};

/// Attempts for a row that does not agree.
pub(super) const MOST_ATTEMPTS: usize = 5;
/// Requests before the first row: version, three pages, discovery or checks of some resources, the revisions.
const REQUESTS_BEFORE: u32 = 20;

/// The plan, announced before it is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The resource to ask for, such as `deployments.apps`.
    pub resource: String,
    /// Number of rows.
    pub shapes: usize,
    /// Number of requests, if every row agrees at once.
    pub requests: u32,
    /// Most requests sent.
    pub most_requests: u32,
    /// Approximate duration.
    pub takes: Duration,
}

/// The progress of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Looks for an idle resource, for this time.
    Choosing(Duration),
    /// The plan is made, and the rows begin.
    Planned(Plan),
    /// Asks a row: its number from 1, the number of rows, and its title.
    Row(usize, usize, &'static str),
}

impl Plan {
    /// The plan for those shapes of `target`, if a metrics page takes `scrape_takes`.
    pub(super) fn of(target: &Target, shapes: &[&Shape], scrape_takes: Duration) -> Self {
        const WAITED_FOR_A_REVISION: Duration = Duration::from_secs(3);
        const WATCHED: Duration = Duration::from_secs(1);
        let rows = u32::try_from(shapes.len()).unwrap_or(u32::MAX);
        let waits: Duration = shapes.iter().filter(|shape| shape.is_waiting()).map(|_| WAITED_FOR_A_REVISION).sum();
        let watches: Duration = shapes.iter().filter(|shape| shape.is_watch()).map(|_| WATCHED).sum();
        let attempts = u32::try_from(MOST_ATTEMPTS).unwrap_or(u32::MAX);
        Self {
            resource: target.resource.to_string(),
            shapes: shapes.len(),
            requests: REQUESTS_BEFORE + 2 * rows,
            // A row, its scrapes, the scrape of a control window, and learning again if another server answered. Twice, for the
            // attempts that do not count; and twice again, for connections that had ended.
            most_requests: REQUESTS_BEFORE + 2 * 2 * 11 * attempts * rows,
            takes: waits + watches + scrape_takes * rows,
        }
    }
}
