//! watchtap ends and starts again on the same port, while Prometheus scrapes it: what both processes counted adds up.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};

use observer_demo::{DemoConfig, DemoServer};
use observer_tests::prometheus::{Labels, Series, Target, now};
use observer_tests::scrape::Scraper;
use observer_tests::{Client, Port, Prometheus, RunSession};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::stored::{stored_as_on_the_page, until};

/// The lists through the first process, and through the second. The second sends fewer: a counter that has passed its old value between
/// two scrapes shows no reset to anyone.
const LISTS: [u32; 2] = [5, 3];
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// Counters of requests. The sums and buckets of durations are left out: one slow request may make them as high as before the restart.
const COUNTERS: &str = "{job=\"watchtap\", __name__=~\"watchtap_.*(_total|_count)\"}";
const LISTED: &str = "watchtap_requests_total{client=\"restarted\", verb=\"LIST\"}";
/// The tick of Linux in which it counts the start of a process, and as much again for rounding.
const TICK: f64 = 0.02;

/// A process after its end. It started between the two times.
struct Process {
    page: BTreeMap<Labels, f64>,
    report: Value,
    started: (f64, f64),
}

#[test]
fn rates_survive_a_restart_of_watchtap() {
    let place = Place::start();
    let began = now();
    let Some(prometheus) = Prometheus::start(&[Target { address: place.metrics(), pod: None }]).unwrap() else { return };
    let processes = LISTS.map(|lists| place.process(&prometheus, lists));
    let ended = now();

    let window = format!("[{}s]", (ended - began).ceil());
    let counters = prometheus.query(&format!("{COUNTERS}{window}"), ended).unwrap();
    assert!(counters.len() > 100, "{} counters", counters.len());
    add_up(&counters, &processes);
    for name in counters.iter().map(|series| &series.labels["__name__"]).collect::<BTreeSet<_>>() {
        let increases = prometheus.query(&format!("increase({name}{{job=\"watchtap\"}}{window})"), ended).unwrap();
        let of_name: Vec<&Series> = counters.iter().filter(|series| series.labels["__name__"] == *name).collect();
        assert_eq!(increases.len(), of_name.len(), "{name}");
        for increase in increases {
            let has_its_labels =
                |series: &&&Series| series.labels.iter().filter(|(label, _)| *label != "__name__").eq(increase.labels.iter());
            is_increase(increase.points[0].1, of_name.iter().find(has_its_labels).unwrap());
        }
        let rates = prometheus.query_each_second(&format!("rate({name}{{job=\"watchtap\"}}[5s])"), began, ended).unwrap();
        let negative = rates.iter().filter(|series| series.points.iter().any(|(_, rate)| *rate < 0.0));
        assert_eq!(negative.count(), 0, "{rates:?}");
    }

    // The page has no creation times of counters. The start of the process is what rules compare with.
    assert_eq!(prometheus.labels_of("{__name__=~\".*_created\"}", began, ended).unwrap(), Vec::<Labels>::new());
    let starts = prometheus.query(&format!("process_start_time_seconds{{job=\"watchtap\"}}{window}"), ended).unwrap();
    are_starts(&starts, &processes);
}

/// Checks each counter against the pages of both processes, and lists against their reports.
#[track_caller]
fn add_up(counters: &[Series], processes: &[Process; 2]) {
    let mut reset = 0;
    for series in counters {
        let labels = without_target(&series.labels);
        let [before, after] = processes.each_ref().map(|process| process.page.get(&labels).copied().unwrap_or_default());
        is_near(counted(series), before + after, series);
        assert_eq!(falls(series), usize::from(before > 0.0), "{series:?}");
        reset += falls(series);
    }
    assert!(reset > 10, "{reset} counters were reset");
    let reported = processes.each_ref().map(|process| process.report["totals"]["lists"].as_u64());
    assert_eq!(reported, LISTS.map(|lists| Some(u64::from(lists))));
    let requests = counters.iter().filter(|series| series.labels["__name__"] == "watchtap_requests_total");
    let requests: f64 = requests.map(counted).sum();
    assert!((requests - f64::from(LISTS.iter().sum::<u32>())).abs() < 1e-6, "{requests} requests were counted");
}

/// Checks the stored start of both processes.
#[track_caller]
fn are_starts(starts: &[Series], [first, second]: &[Process; 2]) {
    let [starts] = starts else { panic!("{starts:?}") };
    let mut starts: Vec<f64> = starts.points.iter().map(|(_, start)| *start).collect();
    starts.dedup();
    let [one, other] = starts[..] else { panic!("{starts:?}") };
    let earliest = second.started.0 - first.started.1 - TICK;
    let latest = second.started.1 - first.started.0 + TICK;
    assert!((earliest..=latest).contains(&(other - one)), "{starts:?}, {earliest}, {latest}");
    // Linux gives the time of its own start in full seconds only.
    let (earliest, latest) = (first.started.0 - 1.0 - TICK, first.started.1 + 1.0 + TICK);
    assert!((earliest..=latest).contains(&one), "{starts:?}, {earliest}, {latest}");
}

/// A demo server, and the port of the processes that observe it.
struct Place {
    server: DemoServer,
    port: Port,
    folder: TempDir,
}

impl Place {
    fn start() -> Self {
        let server = DemoServer::start(DemoConfig::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("kubeconfig"), server.kubeconfig()).unwrap();
        let client = Client::of_server(&format!("https://{}", server.address()), server.ca_pem(), server.token()).unwrap();
        client.post(CONFIG_MAPS, &json!({ "metadata": { "name": "a" } })).unwrap().success().unwrap();
        Self { server, port: Port::reserve().unwrap(), folder }
    }

    fn metrics(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port.number()).into()
    }

    /// Runs watchtap for some lists, each of which Prometheus stores before the next.
    #[track_caller]
    fn process(&self, prometheus: &Prometheus, lists: u32) -> Process {
        let earliest = now();
        let arguments = ["--quiet", "--metrics", &self.metrics().to_string()];
        let session = RunSession::start(&self.folder.path().join("kubeconfig"), &arguments).unwrap();
        let latest = now();
        let start = format!("process_start_time_seconds >= {}", earliest - 1.0 - TICK);
        until(|| !prometheus.query(&start, now()).unwrap().is_empty());
        let listening = session.listening().unwrap();
        let client =
            Client::of_server(&format!("https://{}", listening.address), &listening.authority, self.server.token()).unwrap();
        for sent in 1..=lists {
            client.raw("GET", CONFIG_MAPS, &[("User-Agent", "restarted/1.0")], b"").unwrap().success().unwrap();
            until(|| prometheus.query(LISTED, now()).unwrap().iter().map(counted).sum::<f64>() >= f64::from(sent));
        }
        let page = stored_as_on_the_page(Scraper::at(self.metrics()), prometheus);
        Process { page, report: session.finish().unwrap(), started: (earliest, latest) }
    }
}

/// The labels as on the page.
fn without_target(labels: &Labels) -> Labels {
    labels
        .iter()
        .filter(|(label, _)| !["job", "instance"].contains(&label.as_str()))
        .map(|(label, value)| (label.clone(), value.clone()))
        .collect()
}

/// The sum over all processes: the first number, each rise, and each number after a fall, since a counter begins at zero.
fn counted(series: &Series) -> f64 {
    series.points[0].1 + corrected_rise(series)
}

fn corrected_rise(series: &Series) -> f64 {
    steps(series).map(|(before, after)| if after < before { after } else { after - before }).sum()
}

fn falls(series: &Series) -> usize {
    steps(series).filter(|(before, after)| after < before).count()
}

fn steps(series: &Series) -> impl Iterator<Item = (f64, f64)> {
    series.points.windows(2).map(|two| (two[0].1, two[1].1))
}

/// Checks `increase`, which extrapolates by 1.1 intervals between samples at most, at both ends (promql/functions.go of Prometheus,
/// `extrapolatedRate`).
#[track_caller]
fn is_increase(increase: f64, series: &Series) {
    let [(first, _), .., (last, _)] = series.points[..] else { panic!("{series:?} has one sample") };
    let rise = corrected_rise(series);
    let intervals = f64::from(u32::try_from(series.points.len() - 1).unwrap());
    let most = rise * (1.0 + 2.2 / intervals);
    assert!((rise - 1e-6..=most + 1e-6).contains(&increase), "{increase} for {rise} in {} s: {series:?}", last - first);
}

#[track_caller]
fn is_near(number: f64, expected: f64, series: &Series) {
    assert!((number - expected).abs() < 1e-6, "{number}, not {expected}: {series:?}");
}
