//! The sums of a run's series equal its totals at any moment, live and replayed, and no counter falls.

use std::collections::BTreeMap;

use observer_core::exchange::WatchStream;
use observer_core::k8s::Verb;
use observer_core::observation::{ExchangeId, Observation};
use observer_core::observer::{Event, Limits, Observer, RequestRecord, Totals};
use observer_core::series::{FAMILIES, Family, Kind, Sample, Samples, SeriesLimits, Value};
use proptest::prelude::*;

use super::observations::observations;
use super::rig::{Read, file};

/// Bounds that random observations exceed.
const LOW: SeriesLimits = SeriesLimits { clients: 2, resources: 2, subresources: 0, codes: 1, sets: 4 };

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_of_series_equal_the_totals_at_any_moment(observations in observations(60)) {
        let live = assert_adds_up(&observations, Limits::default());
        let replayed = Read::complete(&file(&observations, 7)).observations;
        prop_assert_eq!(live, assert_adds_up(&replayed, Limits::default()));
        assert_adds_up(&observations, Limits { series: LOW, ..Limits::default() });
    }
}

/// Every number of a run, by family and labels.
type Numbers = BTreeMap<(&'static str, String), Vec<u64>>;

/// Compares series and totals after each observation. Returns the numbers at the end.
#[track_caller]
fn assert_adds_up(observations: &[Observation], limits: Limits) -> Numbers {
    let mut observer = Observer::new(limits);
    let (mut ended, mut so_far, mut before) = (Vec::new(), BTreeMap::new(), Numbers::new());
    for observation in observations {
        observer.observe(observation.clone(), &mut |event| {
            if let Event::Request { record } | Event::WatchEnded { record, .. } = event {
                so_far.remove(&record.id);
                ended.push(record);
            }
        });
        let now = numbers(&observer.samples());
        assert_no_counter_fell(&before, &now);
        before = now;
        assert_sums(&observer, &ended, &mut so_far, limits);
    }
    before
}

/// Compares the sums. `so_far` has the bytes that count of each open response.
fn assert_sums(observer: &Observer, ended: &[Box<RequestRecord>], so_far: &mut BTreeMap<ExchangeId, u64>, limits: Limits) {
    let (series, totals) = (&observer.samples(), observer.totals());
    let all_open = observer.snapshot().requests;
    let open: Vec<&RequestRecord> = all_open.iter().filter(|record| record.end.is_none()).collect();
    so_far.extend(open.iter().filter(|record| counts_as_it_comes(record)).map(|record| (record.id, record.bytes)));
    let of_open = |number: fn(&RequestRecord) -> u64| sum_of(open.iter().map(|record| number(record)));
    let of_ended = |number: fn(&RequestRecord) -> u64| sum_of(ended.iter().map(|record| number(record)));
    let Totals { requests, open: under_way, items, watch_events, response_bytes, watches_open, .. } = totals;

    for (family, expected) in [
        (Family::Requests, requests - under_way),
        (Family::RequestsInFlight, under_way - of_open(|record| u64::from(record.watch.is_some()))),
        (Family::RequestDuration, of_ended(|record| u64::from(record.watch.is_none()))),
        (Family::FirstByte, of_ended(has_response).saturating_add(of_open(has_response))),
        (Family::RequestBytes, of_ended(|record| record.request_bytes).saturating_add(of_open(|record| record.request_bytes))),
        (Family::ResponseBytes, response_bytes.saturating_add(sum_of(so_far.values().copied()))),
        (Family::ListItems, items),
        (Family::Verdicts, of_ended(|record| u64::from(record.verdict.is_some()))),
        (Family::WatchesOpen, watches_open),
        (Family::Watches, of_ended(|record| u64::from(record.watch.is_some()))),
        (Family::WatchDuration, of_ended(was_open)),
    ] {
        assert_eq!(sum(series, family, |_| true), expected, "{family:?}");
    }
    let is_about_objects = |sample: &Sample<'_>| !matches!(sample.label("type"), Some("bookmark" | "error"));
    if limits.series != LOW {
        let events = watch_events.saturating_add(of_open(events));
        assert_eq!(sum(series, Family::WatchEvents, is_about_objects), events);
        assert_eq!(sum(series, Family::Requests, |sample| sample.label("verb") == Some("LIST")), totals.lists);
        let of = |certainty| sum(series, Family::Verdicts, |sample| sample.label("certainty") == Some(certainty));
        assert_eq!((of("confirmed"), of("contradicted")), (totals.confirmed, totals.contradicted));
    }
    for row in FAMILIES {
        let sets = series.of(row.family).count();
        assert!(sets <= limits.series.sets, "{} has {sets} label sets", row.name);
    }
}

fn has_response(record: &RequestRecord) -> u64 {
    u64::from(record.first_byte_us.is_some())
}

fn was_open(record: &RequestRecord) -> u64 {
    let is_refused =
        record.status.is_some_and(|status| status >= 300) && record.watch.as_ref().is_some_and(|watch| watch.error.is_none());
    u64::from(record.watch.is_some() && record.first_byte_us.is_some() && !is_refused)
}

fn events(record: &RequestRecord) -> u64 {
    record.watch.as_ref().map_or(0, WatchStream::events)
}

/// Whether the bytes of an open response count before its end.
fn counts_as_it_comes(record: &RequestRecord) -> bool {
    let may_last = record.verb == Some(Verb::Watch) || record.shape.resource.ends_with("/log");
    let is_refused = record.status.is_some_and(|status| status >= 300);
    record.verdict.is_none() || record.verb.is_none() || (may_last && !is_refused)
}

fn sum(series: &Samples, family: Family, wanted: impl Fn(&Sample<'_>) -> bool) -> u64 {
    sum_of(series.of(family).filter(|sample| wanted(sample)).map(|sample| sample.count()))
}

/// Counts stay at the largest number; so do their sums.
fn sum_of(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

fn numbers(series: &Samples) -> Numbers {
    let all = FAMILIES.iter().flat_map(|row| {
        let numbers = series.of(row.family).map(|sample| {
            let numbers = match sample.value {
                Value::Count(count) => vec![count],
                Value::Histogram(histogram) => [histogram.buckets(), &[histogram.sum_us()]].concat(),
            };
            ((row.name, format!("{:?}", sample.labels)), numbers)
        });
        numbers.chain([((row.name, "folded".to_owned()), vec![series.folded(row.family)])])
    });
    all.collect()
}

#[track_caller]
fn assert_no_counter_fell(before: &Numbers, now: &Numbers) {
    let gauges: Vec<&str> = FAMILIES.iter().filter(|row| matches!(row.kind, Kind::Gauge)).map(|row| row.name).collect();
    for (key, before) in before {
        let now = now.get(key).unwrap_or_else(|| panic!("{key:?} vanished"));
        let has_fallen = before.iter().zip(now).any(|(before, now)| now < before);
        assert!(!has_fallen || (gauges.contains(&key.0) && key.1 != "folded"), "{key:?} fell from {before:?} to {now:?}");
    }
}

#[test]
fn series_do_not_depend_on_the_tables_of_a_snapshot() {
    let of = |limits: Limits| {
        let mut observer = Observer::new(limits);
        for observation in observer_script::observations(SCRIPT) {
            observer.observe(observation, &mut |_| {});
        }
        let samples = observer.samples();
        let lists = samples.of(Family::Requests).filter(|sample| sample.label("verb") == Some("LIST"));
        (observer.totals().lists, lists.map(|sample| sample.count()).sum::<u64>(), numbers(&samples))
    };
    let without_rows = Limits { rows: 0, records: 0, ..Limits::default() };
    let (lists, counted, numbers) = of(without_rows);
    assert_eq!((lists, counted), (2, 2));
    assert_eq!(numbers, of(Limits::default()).2);
}

const SCRIPT: &str = "
    0s server v1.34.4
    0s a connects client=operator/v1
    1s a1 GET /api/v1/pods
    2s a1 whole rv=10 x@5 y@6
    3s a2 GET /api/v1/nodes
    4s a2 whole rv=10 n@5
";
