//! Detects rate limits that clients apply to their own requests.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::exchange::{Client, ClientId, Exchange};
use crate::thresholds::{BURST, EVEN_GAPS, LONGEST_GAP, SHORTEST_GAP};
use crate::time::{PerSecond, Timestamp, microseconds};

/// Bound for the clients that are followed, and for the rate limits that are kept. To make room, the client that has been idle for
/// longest is dropped, or the rate limit of the client that was seen first.
const MAX_FOLLOWED: usize = 1_024;
/// Maximum number of request times kept per client. It has room for the default burst of client-go (10) or controller-runtime (30),
/// plus the evenly spaced requests after the burst.
const KEPT: usize = 64;

/// A client's own rate limit: a token bucket, as in client-go (`rest.Config`, `QPS` and `Burst`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// The number of the client.
    pub client_id: ClientId,
    /// The client, as its requests identify it.
    pub client: Client,
    /// Sustained requests per second, `QPS` of the bucket.
    pub qps: PerSecond,
    /// Requests that it lets through at once, `Burst` of the bucket.
    pub burst: u64,
    /// Total time between requests that the limit held back, in microseconds.
    pub held_us: u64,
    /// Mean time between two requests that it held back.
    every: Duration,
}

/// Latest request times of clients, and the rate limits that they show.
#[derive(Debug)]
pub(super) struct Pacing {
    recent: BTreeMap<ClientId, VecDeque<Timestamp>>,
    limits: BTreeMap<ClientId, RateLimit>,
    forgotten: u64,
}

impl Pacing {
    pub(super) const fn new() -> Self {
        Self { recent: BTreeMap::new(), limits: BTreeMap::new(), forgotten: 0 }
    }

    /// Notes a request of a client.
    pub(super) fn asked(&mut self, client_id: ClientId, exchange: &Exchange) {
        if self.recent.len() >= MAX_FOLLOWED && !self.recent.contains_key(&client_id) {
            let idle = self.recent.iter().min_by_key(|(_, times)| times.back().copied()).map(|(id, _)| *id);
            idle.and_then(|idle| self.recent.remove(&idle));
            self.forgotten = self.forgotten.saturating_add(1);
        }
        let times = self.recent.entry(client_id).or_default();
        if times.len() >= KEPT {
            times.pop_front();
        }
        let gap = times.back().map(|last| exchange.started.since(*last));
        times.push_back(exchange.started);
        if let (Some(known), Some(gap)) = (self.limits.get_mut(&client_id), gap)
            && is_even(gap, known.every)
        {
            known.held_us = known.held_us.saturating_add(microseconds(gap));
        }
        if let Some((every, burst)) = limit(times) {
            if self.limits.len() >= MAX_FOLLOWED && !self.limits.contains_key(&client_id) {
                // Drops the client that was seen first.
                self.limits.pop_first();
                self.forgotten = self.forgotten.saturating_add(1);
            }
            let qps = PerSecond::rounded(1.0 / every.as_secs_f64());
            // When the limit is found, it has held back all the even gaps. Later, the first requests of the burst are no longer kept.
            let known = self.limits.get(&client_id);
            let held_us = known.map_or_else(|| even_gaps(every), |known| known.held_us);
            let burst = known.map_or(burst, |known| known.burst.max(burst));
            self.limits.insert(client_id, RateLimit { client_id, client: Client::of(exchange), qps, burst, held_us, every });
        }
    }

    /// Number of clients that were dropped to make room.
    pub(super) const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// The rate limits found so far.
    pub(super) fn limits(&self) -> Vec<RateLimit> {
        self.limits.values().cloned().collect()
    }
}

fn is_even(gap: Duration, every: Duration) -> bool {
    gap.abs_diff(every) <= every / 5
}

/// The time of the even gaps that prove a limit, in microseconds.
fn even_gaps(every: Duration) -> u64 {
    microseconds(every).saturating_mul(EVEN_GAPS as u64)
}

/// The mean gap and the burst size, if the last requests came evenly after a burst.
fn limit(times: &VecDeque<Timestamp>) -> Option<(Duration, u64)> {
    if times.len() <= EVEN_GAPS {
        return None;
    }
    // The latest gap comes first.
    let gaps = times.iter().rev().zip(times.iter().rev().skip(1)).map(|(after, before)| after.since(*before));
    let every = gaps.clone().take(EVEN_GAPS).sum::<Duration>() / u32::try_from(EVEN_GAPS).ok()?;
    if !(SHORTEST_GAP..=LONGEST_GAP).contains(&every) {
        return None;
    }
    let even = gaps.clone().take_while(|gap| is_even(*gap, every)).count();
    if even < EVEN_GAPS {
        return None;
    }
    let dense = gaps.skip(even).take_while(|gap| *gap <= every / 4).count();
    // The first request of a burst has no gap before it. The last one starts the even gaps.
    (dense + 1 >= BURST).then_some((every, dense as u64 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_spacing_after_a_burst_shows_the_rate_limit() {
        let times = |gaps: &[(usize, u64)]| -> VecDeque<Timestamp> {
            let mut at = 0;
            let mut times = VecDeque::from([Timestamp::default()]);
            for (number, millis) in gaps {
                for _ in 0..*number {
                    at += millis * 1_000_000;
                    times.push_back(Timestamp::from_nanos(at));
                }
            }
            times
        };
        for (gaps, expected) in [
            (&[][..], None),
            (&[(9, 1), (8, 200)][..], Some((200, 10))),
            (&[(9, 1), (7, 200)][..], None),
            (&[(29, 0), (20, 50)][..], Some((50, 30))),
            (&[(3, 1), (40, 200)][..], Some((200, 4))),
            // A loop, a poller or a burst alone shows no limit.
            (&[(40, 200)][..], None),
            (&[(9, 1), (20, 10_000)][..], None),
            // A client creates five objects, then checks every second whether they are ready.
            (&[(4, 20), (20, 1_000)][..], None),
            (&[(40, 1)][..], None),
            (&[(9, 1), (1, 5_000), (10, 200)][..], None),
        ] {
            let found = limit(&times(gaps)).map(|(every, burst)| (every.as_millis(), burst));
            assert_eq!(found, expected, "{gaps:?}");
        }
    }
}
