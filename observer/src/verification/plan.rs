//! The plan of a verification, and its progress.

use std::time::Duration;

use observer_core::verification::{Shape, Target};

/// Maximum number of attempts for a row that does not agree.
pub(super) const MOST_ATTEMPTS: usize = 5;
/// Maximum number of requests before the first row: version, three metrics pages, discovery or checks of some resources, the
/// revisions.
const REQUESTS_BEFORE: u32 = 20;

/// The plan, announced before it is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The resource to ask for, such as `deployments.apps`.
    pub resource: String,
    /// Number of rows, one for each shape.
    pub shapes: usize,
    /// Number of requests, if every row agrees at once.
    pub requests: u32,
    /// Maximum number of requests.
    pub most_requests: u32,
    /// Approximate duration.
    pub takes: Duration,
}

/// The progress of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Looks for an idle resource, which takes this time.
    Choosing(Duration),
    /// The plan is made, and the rows begin.
    Planned(Plan),
    /// Verifies a row: its number from 1, the number of rows, and its title.
    Row(usize, usize, &'static str),
}

impl Plan {
    /// Makes the plan for these shapes of `target`. `scrape_takes` is the time for one metrics page.
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
            // 11 requests for an attempt: the row's request, its scrapes, the scrape of a control window, and learning again if
            // another server answered. Times two for attempts that do not count, and times two for requests repeated because the
            // connection was closed.
            most_requests: REQUESTS_BEFORE + 2 * 2 * 11 * attempts * rows,
            takes: waits + watches + scrape_takes * rows,
        }
    }
}
