//! Prometheus and promtool read the metrics of a demo.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use observer_tests::scrape::Scraped;
use observer_tests::{Labels, Prometheus, promtool};

use super::running::Running;

/// Limit of the wait for the last scrape.
const LIMIT: Duration = Duration::from_mins(1);

/// All clients leave before the end, so that the numbers no longer change.
const SCRIPT: &str = "\
0s start reflectors old-app/0.1 client-go=1.15 watches=pods,configmaps
0s start reflectors new-app/1.0 client-go=1.36 watches=pods,deployments
0s start poller dashboard/2.0 lists=pods every=1s
0s start pager inventory/3.0 lists=pods every=1s page=20
0s start changer deployer/1.1 every=500ms
2s expire pods
5s stop old-app/0.1
5s stop new-app/1.0
5s stop dashboard/2.0
5s stop inventory/3.0
5s stop deployer/1.1
5s print all clients have left
";

#[test]
fn stored_values_equal_the_page_and_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, SCRIPT).unwrap();
    let running = Running::start("", &["demo", "--quiet", "--grace", "0s", "--script", script.to_str().unwrap()]);
    let Some(prometheus) = Prometheus::start(running.scraper.address()).unwrap() else { return };
    running.line_with("all clients have left");
    let until = Instant::now() + LIMIT;
    let (page, stored) = loop {
        let (page, stored) = (of_traffic(&running.scraper.scrape().unwrap()), prometheus.newest().unwrap());
        if is_stored(&page, &stored) || Instant::now() > until {
            break (page, stored);
        }
    };
    let different = page.iter().filter(|(labels, number)| stored.get(*labels) != Some(number));
    let different: Vec<_> = different.map(|(labels, number)| (labels, number, stored.get(labels))).collect();
    assert!(different.is_empty(), "{different:?}");
    for problem in ["sample_duplicate_timestamp", "sample_out_of_order", "exceeded_sample_limit", "sample_out_of_bounds"] {
        assert_eq!(prometheus.own_count(&format!("prometheus_target_scrapes_{problem}_total")).unwrap(), 0, "{problem}");
    }
    drop(prometheus);

    let (report, _folder) = running.finish();
    let totals = &report["totals"];
    let sum = |name: &str, label: &str, value: &str| -> f64 {
        let of_name = stored.iter().filter(|(labels, _)| labels["__name__"] == name);
        of_name
            .filter(|(labels, _)| label.is_empty() || labels.get(label).is_some_and(|found| found == value))
            .map(|(_, number)| number)
            .sum()
    };
    let about_objects = ["added", "modified", "deleted"];
    for (sum, total) in [
        (sum("watchtap_requests_total", "", ""), "requests"),
        (sum("watchtap_requests_total", "verb", "LIST"), "lists"),
        (sum("watchtap_watches_total", "", ""), "watches"),
        (about_objects.map(|of_type| sum("watchtap_watch_events_total", "type", of_type)).iter().sum(), "watch_events"),
        (sum("watchtap_list_items_total", "", ""), "items"),
        (sum("watchtap_response_bytes_total", "", ""), "response_bytes"),
    ] {
        assert_eq!(Some(sum), totals[total].as_f64(), "{total} of {totals}");
        assert!(sum > 0.0, "{total}");
    }
    assert!(sum("watchtap_watches_open", "", "").abs() < 0.1, "all clients have left");
}

#[test]
fn promtool_finds_nothing_to_improve() {
    let Some(mut promtool) = promtool().unwrap() else { return };
    let running = Running::start("", &["demo", "--quiet", "--grace", "0s"]);
    let page = loop {
        let page = running.scraper.scrape().unwrap();
        if page.count("watchtap_watches_open", "").unwrap() > 0 {
            break page;
        }
    };
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut checking = promtool.spawn().unwrap();
    checking.stdin.take().unwrap().write_all(page.body()).unwrap();
    let checked = checking.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&[checked.stdout, checked.stderr].concat()).into_owned();
    assert!(checked.status.success() && said.is_empty(), "{said}");
}

/// The samples of a page, as Prometheus stores them, without the state of watchtap itself.
fn of_traffic(page: &Scraped) -> BTreeMap<Labels, f64> {
    let samples = page.samples().unwrap().into_iter();
    let samples = samples.map(|(series, number)| (labels_of(&series), number.parse().unwrap()));
    samples
        .filter(|(labels, _)| !labels["__name__"].starts_with("process_") && labels["__name__"] != "watchtap_observing_queue_bytes")
        .collect()
}

/// Parses `name{label="value",…}`. No value of the script has a quote or a comma.
fn labels_of(series: &str) -> Labels {
    let (name, labels) = series.split_once('{').unwrap_or((series, ""));
    let labels = labels.trim_end_matches('}').split(',').filter_map(|label| {
        let (name, value) = label.split_once('=')?;
        let value = value.trim_matches('"');
        (!value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    });
    labels.chain([("__name__".to_owned(), name.to_owned())]).collect()
}

fn is_stored(page: &BTreeMap<Labels, f64>, stored: &BTreeMap<Labels, f64>) -> bool {
    page.iter().all(|(labels, number)| stored.get(labels) == Some(number))
}
