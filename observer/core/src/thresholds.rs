//! The numbers that decide whether a finding, a trouble, a poller or a storm is named. `docs/findings.md` states them in words.
//!
//! Bounds of tables and of texts are elsewhere: each is in the file that enforces it.

use std::time::Duration;

/// Refusals at one revision that make a reflector stuck.
///
/// A client's transport makes up to 11 attempts before the reflector sees a refusal; this is one more.
pub(crate) const STUCK_REFUSALS: u64 = 12;

/// Relists that are a loop if they are within [`LOOP_WITHIN`].
///
/// Restarts of API servers rarely explain five.
pub(crate) const LOOP_RELISTS: usize = 5;
/// Time in which [`LOOP_RELISTS`] are a loop.
///
/// client-go asks for watches of 5 to 10 minutes (tools/cache/reflector.go, `minWatchTimeout`): one or two in this time.
pub(crate) const LOOP_WITHIN: Duration = Duration::from_mins(10);

/// A client treats a watch without events as failed if it ends within this time (client-go tools/cache/reflector.go,
/// `VeryShortWatchError`).
pub(crate) const VERY_SHORT_WATCH: Duration = Duration::from_secs(1);
/// Consecutive very short watches that are a trouble: one or two may come from a restart.
pub(crate) const SHORT_WATCHES: u64 = 3;

/// The shortest time without reading that is a stall: shorter ones are normal flow control and scheduling.
pub(crate) const SHORTEST_STALL: Duration = Duration::from_secs(1);
/// Shortest total time of stalls that is a finding. Shorter ones are one if the server ended a watch early.
pub(crate) const LONG_STALL: Duration = Duration::from_secs(5);
/// A client that did not watch for longer than this was stalled or gone. client-go pauses for less than 60 s between two attempts
/// (client-go tools/cache/reflector.go, `backoffManager`: at most 30 s, times a number below 2).
pub(crate) const UNWATCHED: Duration = Duration::from_secs(75);

/// Complete lists without a watch that make a poller: three similar intervals are no accident.
pub(crate) const POLLS: u64 = 4;
/// Intervals are similar if their mean deviation from the median is at most the median divided by this.
pub(crate) const ALIKE: u32 = 4;
/// A series of even lists has ended after this many intervals without another list.
pub(crate) const OVER_AFTER: u32 = 4;
/// Lists without a watch, less than [`HOT`] apart, that make a hot loop.
pub(crate) const HOT_LISTS: u64 = 10;
/// Longest time between two lists of a hot loop.
pub(crate) const HOT: Duration = Duration::from_secs(1);
/// Most waits for a condition end within this time. A longer series is a finding, although it may still prove to be a wait.
pub(crate) const MOST_WAITS: Duration = Duration::from_mins(1);
/// The longest wait: a longer series of even lists is a poller.
///
/// Five minutes is the usual timeout for tests that wait for a condition by listing (kubernetes test/e2e/framework/timeouts.go:
/// `PodStart`, `ClaimProvision`). One interval is added for the last attempt.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// Time in which informers of one process for the same must be open at once to be duplicates. The end of a watch may be observed
/// only after the next watch of the same reflector began.
pub(crate) const TOGETHER: Duration = Duration::from_secs(3);

/// Objects that make one list from etcd heavy.
///
/// 500 is the size of client-go's pages. Clients that list a small resource, or watch events, stay below it.
pub(crate) const HEAVY_OBJECTS: u64 = 500;
/// Bytes that make one list from etcd heavy: one megabyte, two thirds of the largest object that etcd accepts.
pub(crate) const HEAVY_BYTES: u64 = 1_000_000;
/// Objects per second, averaged over the run, that make lists from etcd heavy, however small each is.
pub(crate) const HEAVY_PER_SECOND: u64 = 100;
/// A selector is a finding if it keeps at most one in this many objects.
pub(crate) const FILTERED_TO: u64 = 10;

/// Consecutive even gaps between requests that show a client's own rate limit: eight are no accident.
pub(crate) const EVEN_GAPS: usize = 8;
/// Shortest mean gap that can show a rate limit.
pub(crate) const SHORTEST_GAP: Duration = Duration::from_millis(5);
/// Longest mean gap that can show a rate limit.
pub(crate) const LONGEST_GAP: Duration = Duration::from_millis(500);
/// Fewest close requests that are a burst.
pub(crate) const BURST: usize = 4;

/// Different reflectors whose relists are a storm.
///
/// A controller of the usual size has fewer, so that its own failure is one relist or a few. A node, a manager of many controllers,
/// or a laptop with several clients has more.
pub(crate) const STORM_REFLECTORS: usize = 10;
/// Time in which the relists of a storm begin.
///
/// client-go waits 0.8 to 1.6 s before its first relist, then twice as long, and then twice again, each with random jitter. Three
/// attempts fit (client-go tools/cache/reflector.go, `backoffManager`).
pub(crate) const STORM_WITHIN: Duration = Duration::from_secs(10);
