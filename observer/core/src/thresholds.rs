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

/// Number of lists after watches that ended normally from which a client counts as one that does not resume. One or two may come
/// from a new process that looks like the same client.
pub(crate) const UNRESUMED_WATCHES: u64 = 3;

/// Number of consecutive watches from one revision, each of which delivered nothing, that are a loop. A client that retries once
/// before it lists makes two.
pub(crate) const FUTILE_WATCHES: u64 = 3;

/// Time between two compactions of etcd by an API server (kubernetes/apiserver `pkg/storage/etcd3/compact.go`, five minutes by
/// default). A younger revision has not expired.
pub(crate) const COMPACTED_EVERY: Duration = Duration::from_mins(5);

/// Minimum silence of a deaf watch. API servers send a bookmark each minute (§2.5 of docs/semantics.md); three are not late by
/// accident.
pub(crate) const DEAF_AFTER: Duration = Duration::from_mins(3);
/// Minimum age of the sign that proves a watch deaf. A client that pings its connection ends a dead one within 45 s (kubernetes/apimachinery
/// `pkg/util/net/http.go`: `readIdleTimeoutSeconds` 30, `pingTimeoutSeconds` 15).
pub(crate) const PROOF_OF_DEAFNESS: Duration = Duration::from_mins(1);
/// A bookmark of another watch proves a watch deaf only if it came this long after the silence began: each watch has its own
/// schedule, with a bookmark about each minute.
pub(crate) const BOOKMARK_DUE: Duration = Duration::from_secs(90);
/// A timer that is this late shows that the machine was suspended: otherwise time passes by a tick each second.
pub(crate) const SUSPENDED: Duration = Duration::from_secs(30);
/// Time between two examinations of a silent watch.
pub(crate) const EXAMINED_EVERY: Duration = Duration::from_secs(10);
/// Minimum silence of a watch from a revision that the server does not have.
pub(crate) const AHEAD_AFTER: Duration = Duration::from_secs(10);

/// Number of attempts at a streaming list, all cut off before its end, that are a trouble. One may come from a restart.
pub(crate) const UNSYNCED_ATTEMPTS: u64 = 2;
/// Time within which the initial events of a streaming list usually end. 100 000 objects take about 10 s.
pub(crate) const INITIAL_EVENTS_WITHIN: Duration = Duration::from_secs(30);
/// A streaming list that has delivered nothing for this long has sent all its objects; only the end is missing.
pub(crate) const QUIET_WITHOUT_END: Duration = Duration::from_secs(10);

/// Median time from which lists of unknown size count as large. API servers log the trace of a list from this time on
/// (kubernetes/apiserver `pkg/endpoints/handlers/get.go`, `ListResource`).
pub(crate) const LONG_LIST: Duration = Duration::from_millis(500);

/// Number of consecutive refused lists, or watches, that are a trouble, if the refusals last for [`REFUSED_FOR`]. While an API
/// server starts, client-go gets one or two.
pub(crate) const REFUSALS: u64 = 5;
/// Minimum time of consecutive refusals, or of answers with 5xx, that is a finding. client-go then waits for up to 30 s between two
/// attempts (client-go tools/cache/reflector.go, `backoffManager`).
pub(crate) const REFUSED_FOR: Duration = Duration::from_mins(1);
/// Maximum time between two consecutive refusals. Later attempts are another series.
pub(crate) const REFUSED_WITHIN: Duration = Duration::from_mins(5);
/// Number of requests of one kind answered with 5xx from which they are a finding.
pub(crate) const SERVER_ERRORS: u64 = 10;
/// Minimum share of the requests of one kind that are answered with 5xx, in percent, that is a finding.
pub(crate) const SERVER_ERRORS_PERCENT: u64 = 1;

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

/// Gets of one resource in a second that are many, averaged over [`BUSY_OVER`]. client-go's default rate limit is half of it.
pub(crate) const BUSY_GETS: u64 = 10;
/// Time over which gets are averaged, and for which gets of one object without a pause must last.
pub(crate) const BUSY_OVER: Duration = Duration::from_secs(30);

/// A limit is ignored if at least this many times as many objects came in one response. Informers of client-go send `limit=500`
/// with `resourceVersion=0` and want everything, so a small factor is no trouble.
pub(crate) const LIMITS_IGNORED: u64 = 10;
/// How long the API server waits for its watch cache in a consistent read (kubernetes/apiserver
/// `pkg/storage/cacher/watch_cache.go` `blockTimeout`, v0.31 to v0.37.0-beta.0).
pub(crate) const WAIT_FOR_CACHE: Duration = Duration::from_secs(3);

/// A list of fewer bytes does not take [`WAIT_FOR_CACHE`] because of its size: API servers encode more than 10 MB a second.
pub(crate) const SLOW_BYTES: u64 = 20_000_000;

/// Number of clients of one program that start within [`ROLLOUT_WITHIN`] and make a rollout.
pub(crate) const ROLLOUT_CLIENTS: usize = 10;
/// Time within which the clients of a rollout start.
pub(crate) const ROLLOUT_WITHIN: Duration = Duration::from_mins(10);
/// Minimum time until a client has its first state that is long.
pub(crate) const SLOW_SYNC: Duration = Duration::from_secs(30);
/// A sync is slow because of the client's own rate limit if at least one in this many parts of the time passed in it.
pub(crate) const SYNC_SHARE: u32 = 2;
/// Number of open watches of single objects by one client that are many. kube-apiserver allows 100 streams on a connection of its
/// own TLS server by default, and 250 with golang.org/x/net.
pub(crate) const MANY_WATCHES: usize = 50;

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
