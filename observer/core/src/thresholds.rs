//! The numbers that decide when a finding, a reflector's trouble, a poller or a storm is reported. `docs/findings.md` states them
//! in words.
//!
//! Bounds of tables and of texts are elsewhere: each is in the file that enforces it.

use std::time::Duration;

/// Number of refusals at one revision after which a reflector counts as stuck.
///
/// A client's transport makes up to 11 attempts before its reflector gets the refusal; this is one more.
pub(crate) const STUCK_REFUSALS: u64 = 12;

/// Number of relists that are a loop if they happen within [`LOOP_WITHIN`].
///
/// Restarts of API servers rarely cause five.
pub(crate) const LOOP_RELISTS: usize = 5;
/// Time within which [`LOOP_RELISTS`] relists are a loop.
///
/// client-go asks for watches of 5 to 10 minutes (tools/cache/reflector.go, `minWatchTimeout`): it starts one or two in this time.
pub(crate) const LOOP_WITHIN: Duration = Duration::from_mins(10);

/// A client treats a watch without events as failed if it ends within this time (client-go tools/cache/reflector.go,
/// `VeryShortWatchError`).
pub(crate) const VERY_SHORT_WATCH: Duration = Duration::from_secs(1);
/// Number of consecutive very short watches from which they count as trouble. One or two may come from a restart.
pub(crate) const SHORT_WATCHES: u64 = 3;

/// Minimum time without reading that is a stall. Shorter ones are normal flow control and scheduling.
pub(crate) const SHORTEST_STALL: Duration = Duration::from_secs(1);
/// Minimum total time of stalls that is a finding. A shorter total is a finding only if the server ended a watch early.
pub(crate) const LONG_STALL: Duration = Duration::from_secs(5);
/// A client that did not watch for longer than this was stalled or gone. client-go pauses for less than 60 s between two attempts
/// (client-go tools/cache/reflector.go, `backoffManager`: at most 30 s, times a number below 2).
pub(crate) const UNWATCHED: Duration = Duration::from_secs(75);

/// Minimum number of complete lists without a watch that make a poller: three similar intervals are no accident.
pub(crate) const POLLS: u64 = 4;
/// Intervals are even if their mean deviation from the median is at most the median divided by this number.
pub(crate) const ALIKE: u32 = 4;
/// A series of lists at even intervals is over after this many intervals without another list.
pub(crate) const OVER_AFTER: u32 = 4;
/// Minimum number of lists without a watch, less than [`HOT`] apart, that make a hot loop.
pub(crate) const HOT_LISTS: u64 = 10;
/// Maximum time between two lists of a hot loop.
pub(crate) const HOT: Duration = Duration::from_secs(1);
/// Waits for a condition usually end within this time. A longer series is a finding, although it may still turn out to be a wait.
pub(crate) const MOST_WAITS: Duration = Duration::from_mins(1);
/// Maximum length of a wait: a longer series of lists at even intervals is a poller.
///
/// Five minutes is the usual timeout for tests that wait for a condition by listing (kubernetes test/e2e/framework/timeouts.go:
/// `PodStart`, `ClaimProvision`). One interval is added for the last attempt.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// Informers of one process for the same objects are duplicates if they are open at once for this time. The end of a watch may be
/// observed only after the next watch of the same reflector began.
pub(crate) const TOGETHER: Duration = Duration::from_secs(3);

/// Number of objects that make one list from etcd heavy.
///
/// 500 is the size of client-go's pages. Clients that list a small resource, or watch events, stay below it.
pub(crate) const HEAVY_OBJECTS: u64 = 500;
/// Number of bytes that make one list from etcd heavy: one megabyte, two thirds of the largest object that etcd accepts.
pub(crate) const HEAVY_BYTES: u64 = 1_000_000;
/// Objects per second, averaged over the run, that make lists from etcd heavy, however small each is.
pub(crate) const HEAVY_PER_SECOND: u64 = 100;
/// A selector is a finding if it keeps at most one in this many objects.
pub(crate) const FILTERED_TO: u64 = 10;

/// Number of consecutive even gaps between requests that prove a client's own rate limit: eight are no accident.
pub(crate) const EVEN_GAPS: usize = 8;
/// Minimum mean gap that can prove a rate limit.
pub(crate) const SHORTEST_GAP: Duration = Duration::from_millis(5);
/// Maximum mean gap that can prove a rate limit.
pub(crate) const LONGEST_GAP: Duration = Duration::from_millis(500);
/// Minimum number of requests in a burst, which are much closer together than the even gaps.
pub(crate) const BURST: usize = 4;

/// Number of different reflectors whose relists are a storm.
///
/// A controller of the usual size has fewer, so that its own failure is one relist or a few. A node, a manager of many controllers,
/// or a laptop with several clients has more.
pub(crate) const STORM_REFLECTORS: usize = 10;
/// Time within which the relists of a storm begin.
///
/// client-go waits 0.8 to 1.6 s before its first relist, then twice as long, and then twice again, each with random jitter. Three
/// attempts fit (client-go tools/cache/reflector.go, `backoffManager`).
pub(crate) const STORM_WITHIN: Duration = Duration::from_secs(10);
