//! Waits for Prometheus, which reports neither scrapes nor evaluations.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use observer_tests::Prometheus;
use observer_tests::prometheus::Labels;
use observer_tests::scrape::{Scraped, Scraper};

/// Limit of each wait.
const LIMIT: Duration = Duration::from_mins(1);
/// Interval at which Prometheus is asked.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Waits for something that Prometheus does at its next scrape or evaluation.
#[track_caller]
pub(super) fn until(condition: impl Fn() -> bool) {
    let until = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < until, "it did not happen within {LIMIT:?}");
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// Waits until Prometheus has stored each sample of the page of its only target, and returns the samples. `process_*` and the queue of
/// watchtap itself always change, and are left out.
#[track_caller]
pub(super) fn stored_as_on_the_page(scraper: Scraper, prometheus: &Prometheus) -> BTreeMap<Labels, f64> {
    let until = Instant::now() + LIMIT;
    loop {
        let (page, stored) = (of_traffic(&scraper.scrape().unwrap()), prometheus.newest().unwrap());
        let different = page.iter().filter(|(labels, number)| stored.get(*labels) != Some(number));
        let different: Vec<_> = different.map(|(labels, number)| (labels, number, stored.get(labels))).collect();
        if different.is_empty() {
            return page;
        }
        assert!(Instant::now() < until, "{different:?}");
        thread::sleep(BETWEEN_LOOKS);
    }
}

fn of_traffic(page: &Scraped) -> BTreeMap<Labels, f64> {
    let samples = page.samples().unwrap().into_iter();
    let samples = samples.map(|(series, number)| (labels_of(&series), number.parse().unwrap()));
    samples
        .filter(|(labels, _)| !labels["__name__"].starts_with("process_") && labels["__name__"] != "watchtap_observing_queue_bytes")
        .collect()
}

/// Parses `name{label="value",…}`. No value in these tests has a quote or a comma.
fn labels_of(series: &str) -> Labels {
    let (name, labels) = series.split_once('{').unwrap_or((series, ""));
    let labels = labels.trim_end_matches('}').split(',').filter_map(|label| {
        let (name, value) = label.split_once('=')?;
        let value = value.trim_matches('"');
        (!value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    });
    labels.chain([("__name__".to_owned(), name.to_owned())]).collect()
}
