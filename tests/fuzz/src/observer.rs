//! Invariants of the Observer for any connections, with gaps, ends and losses in any order. Events and snapshot do not depend on
//! the chunking, and are the same after a replay from a capture. Tables stay within their limits, and totals equal the sums of
//! their parts.
//!
//! The input is a [`super::script`].

use std::time::Duration;

use observer_core::capture::{FileEnd, Replay, Replayed, Writer};
use observer_core::observation::{ExchangeObservation, Observation, Subject};
use observer_core::observer::{Event, Limits, Observer, Snapshot};
use observer_core::reflector::ReflectorLimits;
use observer_core::series::{ClientLabels, SeriesLimits};
use observer_core::storm::StormLimits;
use observer_core::time::Timestamp;

use super::script::observations;

/// Limits that are low enough for short scripts to reach.
const LIMITS: Limits = Limits {
    open_exchanges: 6,
    connections: 3,
    open_memory: 64 << 10,
    records: 5,
    records_memory: 64 << 10,
    rows: 4,
    rows_memory: 64 << 10,
    profiles_memory: 64 << 10,
    upstreams: 2,
    histories: 3,
    reflectors: ReflectorLimits {
        reflectors: 5,
        clients: 3,
        connections: 3,
        objects: 8,
        servers: 2,
        resources: 2,
        memory: 64 << 10,
        clients_memory: 64 << 10,
    },
    storms: StormLimits { reflectors: 2, window: Duration::from_secs(5), members: 2, memory: 64 << 10, past: 2, servers: 2 },
    series: SeriesLimits {
        clients: 2,
        resources: 2,
        subresources: 1,
        codes: 2,
        upstreams: 2,
        sets: 8,
        client_labels: ClientLabels::ALL,
    },
};

/// Runs the script unchanged, byte by byte, and through a capture.
pub fn check(input: &[u8]) {
    let (observed, chunked) = (observations(input, usize::MAX), observations(input, 1));
    for limits in [LIMITS, Limits::default()] {
        let whole = observe(&observed, limits);
        assert_adds_up(&observed, &whole, limits);
        assert_eq!(whole, observe(&chunked, limits), "chunking changed what is told");
    }
    assert_eq!(replayed(&observed), observed, "a capture holds something else");
}

fn observe(observed: &[Observation], limits: Limits) -> (Vec<Event>, Snapshot) {
    let mut owner = Observer::new(limits);
    let mut events = Vec::new();
    for one in observed {
        owner.observe(one.clone(), &mut |event| events.push(event));
    }
    (events, owner.snapshot())
}

fn assert_adds_up(observed: &[Observation], (events, snapshot): &(Vec<Event>, Snapshot), limits: Limits) {
    let Snapshot { totals, lists, watches, others, requests, missed, upstreams, .. } = snapshot;
    assert!(lists.len() <= limits.rows && watches.len() <= limits.rows && others.len() <= limits.rows, "too many rows");
    assert!(requests.len() <= 2 * limits.records && upstreams.len() <= limits.upstreams, "too many records or servers");
    assert!(totals.open <= limits.open_exchanges as u64, "too many requests are under way");

    let asked =
        observed.iter().filter(|one| matches!(one.subject, Subject::Exchange(_, ExchangeObservation::Requested { .. }))).count()
            as u64;
    let ended = events.iter().filter(|event| matches!(event, Event::Request { .. } | Event::WatchEnded { .. })).count() as u64;
    assert_eq!(totals.requests, asked);
    assert_eq!(totals.observed, totals.forwarded, "bytes of a connection were counted otherwise than told");
    assert_eq!(ended + totals.open + missed.exchanges_dropped, asked, "a request was lost");
    let open_watches: u64 = watches.iter().map(|row| row.open).sum();
    let counted =
        lists.iter().map(|row| row.count).chain(watches.iter().map(|row| row.count)).chain(others.iter().map(|row| row.count));
    let counted: u64 = counted.sum();
    assert_eq!(counted - open_watches + missed.rows_dropped, ended, "a finished request is in no row: {snapshot:#?}");
    let kept = requests.iter().filter(|request| request.end.is_some()).count() as u64;
    assert_eq!(kept + missed.records_dropped, ended, "a finished request is in no record");
    serde_json::to_value(snapshot).expect("a snapshot can be written");
}

/// The observations after a round trip through a capture.
fn replayed(observed: &[Observation]) -> Vec<Observation> {
    let mut writer = Writer::new(Timestamp::from_nanos(1));
    let mut file = Vec::new();
    writer.begin_file(&mut file);
    for one in observed {
        writer.record(one, &mut file);
    }
    writer.end_file(FileEnd::Complete, &mut file);
    let mut replayed = Vec::new();
    let mut take = |one| match one {
        Replayed::Observation(observation) => replayed.push(observation),
        Replayed::Lost(_) | Replayed::Refused(_) => panic!("{one:?}"),
    };
    let mut replay = Replay::default();
    replay.bytes(&file, &mut take);
    replay.end_file(&mut take);
    replay.finish(&mut take);
    replayed
}
