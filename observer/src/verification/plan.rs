//! What will be done, and how far it is.

use std::time::Duration;

use observer_core::verification::{Shape, Target};

/// Times that a row is asked which does not agree.
pub(super) const MOST_ATTEMPTS: usize = 5;
/// Requests before the first row: version, three pages, discovery or a look at some resources, the revisions.
const REQUESTS_BEFORE: u32 = 20;

/// What will be done, said before it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The resource.
    pub resource: String,
    /// Rows.
    pub shapes: usize,
    /// Requests, if every row agrees at once.
    pub requests: u32,
    /// Requests at most.
    pub most_requests: u32,
    /// About how long it takes.
    pub takes: Duration,
}

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A quiet resource is looked for.
    Choosing(Duration),
    /// Now it begins.
    Planned(Plan),
    /// A row is asked: which, of how many.
    Row(usize, usize, &'static str),
}

impl Plan {
    /// For those shapes of `target`, with pages that take so long.
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
            // A row, its scrapes and that of a control window, and learning anew where another server answered: twice as often, and again
            // where a connection had ended.
            most_requests: REQUESTS_BEFORE + 2 * 2 * 11 * attempts * rows,
            takes: waits + watches + scrape_takes * rows,
        }
    }
}
