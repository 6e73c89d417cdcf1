//! The sums of a run's series equal its totals at any moment, live and replayed, and no counter falls.

use std::collections::BTreeMap;

use observer_core::observation::Observation;
use observer_core::observer::{Limits, Observer};
use observer_core::series::{ClientLabels, FAMILIES, Family, Kind, Samples, SeriesLimits, Value};
use proptest::prelude::*;

use super::observations::observations;
use super::rig::{Read, file};
use super::series_scripts::scripts;
use super::series_sums::Heard;

/// Bounds that random observations exceed.
const LOW: SeriesLimits =
    SeriesLimits { clients: 2, resources: 2, subresources: 0, codes: 1, upstreams: 1, sets: 4, client_labels: ClientLabels::ALL };

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_of_series_equal_the_totals_at_any_moment(observations in observations(60)) {
        let live = assert_adds_up(&observations, Limits::default());
        let replayed = Read::complete(&file(&observations, 7)).observations;
        prop_assert_eq!(live, assert_adds_up(&replayed, Limits::default()));
        assert_adds_up(&observations, Limits { series: LOW, ..Limits::default() });
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_of_reflectors_and_storms_equal_the_totals_at_any_moment(script in scripts()) {
        let observations = observer_script::observations(&script);
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
    let at_start: Vec<usize> = observer.samples().families().map(|(_, samples)| samples.count()).collect();
    let (mut heard, mut before) = (Heard::default(), Numbers::new());
    for observation in observations {
        observer.observe(observation.clone(), &mut |event| heard.note(event));
        let samples = observer.samples();
        heard.assert_sums(&observer, &samples, limits);
        let now = numbers(&samples);
        assert_no_counter_fell(&before, &now);
        before = now;
        for (row, at_start) in FAMILIES.iter().zip(&at_start) {
            let sets = samples.of(row.family).count();
            // A family of known words has all its label sets from the start.
            assert!(sets <= limits.series.sets.max(*at_start), "{} has {sets} label sets", row.name);
        }
    }
    before
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
    let mut of_all = Numbers::new();
    for (key, numbers) in all {
        assert!(of_all.insert(key.clone(), numbers).is_none(), "{key:?} stands twice");
    }
    of_all
}

#[track_caller]
fn assert_no_counter_fell(before: &Numbers, now: &Numbers) {
    let gauges: Vec<&str> = FAMILIES.iter().filter(|row| matches!(row.kind, Kind::Gauge)).map(|row| row.name).collect();
    for (key, before) in before {
        let is_gauge = gauges.contains(&key.0) && key.1 != "folded";
        let Some(now) = now.get(key) else {
            assert!(is_gauge, "{key:?} vanished");
            continue;
        };
        let has_fallen = before.iter().zip(now).any(|(before, now)| now < before);
        assert!(!has_fallen || is_gauge, "{key:?} fell from {before:?} to {now:?}");
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
        let mut numbers = numbers(&samples);
        // What the tables had no room for is a loss.
        numbers.retain(|(name, _), _| *name != "watchtap_missed_total");
        (observer.totals().lists, lists.map(|sample| sample.count()).sum::<u64>(), numbers)
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
