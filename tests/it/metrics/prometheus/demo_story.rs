//! Prometheus scrapes the demo while the standard script plays: the values that it stores, the alerts that it raises, and the panels of
//! the boards.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use observer_demo::Script;
use observer_tests::Prometheus;
use observer_tests::prometheus::{Labels, Target, now};
use serde_json::Value;

use super::super::running::Running;
use super::panels;
use super::stored::{stored_as_on_the_page, until};

/// One round of the standard script then takes 78 s. The thresholds of alerts and findings stay those of real time.
const SPEED: &str = "2";
/// The clients of the standard script that it does not stop itself.
const CLIENTS: [&str; 14] = [
    "old-ingress/v0.26.1",
    "log-shipper/v1.3.0",
    "disk-provisioner/v2.1.0",
    "node-tuner/v0.4.2",
    "cert-rotator/v1.11.0",
    "mesh-agent/1.9",
    "settings-controller/0.4",
    "rollout-controller/0.2",
    "dashboard/2.1",
    "cost-exporter/0.9",
    "alert-mailer/1.2",
    "inventory/3.0",
    "deployer/5.5",
    "mesh-operator/v0.8.0",
];
/// A message of the script when all faults have happened and all clients still run.
const FAULTS_ARE_OVER: &str = "etcd compacts its history";
const CLIENTS_HAVE_LEFT: &str = "all clients have left";

/// The alerts of the story, and how far each gets, by the reasons of docs/demo.md and docs/alerts.md.
const ALERTS: [(&str, &str); 6] = [
    // The script restarts the API server: ten reflectors of client-go 1.15 relist at once.
    ("WatchtapRelistStorm", "firing"),
    // It restores etcd from a backup, so clients that poll without a revision get lower ones.
    ("WatchtapRevisionWentBack", "firing"),
    // After the restore, node-tuner asks for its revision for less than a minute. The alert needs five minutes.
    ("WatchtapStuckReflector", "pending"),
    // As long, watches that resumed wait at revisions that the server does not have. The alert needs five minutes.
    ("WatchtapAheadOfServer", "pending"),
    // archive-tail does not read for 42 s, more than a tenth of five minutes. The alert needs ten minutes of that.
    ("WatchtapSlowReader", "pending"),
    // This test ends watchtap before Prometheus. The alert needs ten minutes.
    ("WatchtapDown", "pending"),
];

/// One test for three things: the story takes more than a minute, and would otherwise play three times.
#[test]
fn prometheus_stores_alerts_and_shows_the_standard_demo() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, standard_round()).unwrap();
    let arguments = ["demo", "--quiet", "--grace", "0s", "--speed", SPEED, "--script", script.to_str().unwrap()];
    let running = Running::start("", &arguments);
    // Without a connection, the alert WatchtapSeesNothing would be pending for a moment.
    while running.scraper.scrape().unwrap().count("watchtap_connections_total", "").unwrap() == 0 {}
    let began = now();
    let target = Target { address: running.scraper.address(), pod: None };
    let Some(prometheus) = Prometheus::start(&[target]).unwrap() else { return };
    running.line_with(FAULTS_ARE_OVER);
    let boards = panels::shown(&prometheus, began, now());
    running.line_with(CLIENTS_HAVE_LEFT);
    let stored = stored_as_on_the_page(running.scraper, &prometheus);
    for problem in ["sample_duplicate_timestamp", "sample_out_of_order", "exceeded_sample_limit", "sample_out_of_bounds"] {
        assert_eq!(prometheus.own_count(&format!("prometheus_target_scrapes_{problem}_total")).unwrap(), 0, "{problem}");
    }
    let of_process = prometheus.query("{__name__=~\"process_.*\", job=\"watchtap\"} > 0", now()).unwrap();
    assert_eq!(of_process.len(), 6, "{of_process:?}");
    let (report, _folder) = running.finish();
    let down = "ALERTS{alertname=\"WatchtapDown\", instance!=\"\"}";
    until(|| !prometheus.query(down, now()).unwrap().is_empty());
    let alerts = prometheus.labels_of("ALERTS", began, now()).unwrap();
    drop(prometheus);

    equals_the_report(&stored, &report);
    are_those_of_the_story(&alerts);
    panels::are_as_expected(&boards);
    panels::keep(&boards);
}

/// The standard script, but all clients leave at its end, and it does not repeat. So the numbers no longer change.
fn standard_round() -> String {
    let standard = Script::standard_text();
    let (round, end) = standard.split_once("155s  print the script starts over\n").expect("the standard script ends otherwise now");
    assert_eq!(end, "155s  wait\n", "the standard script ends otherwise now");
    let stops = CLIENTS.map(|client| format!("155s stop {client}\n")).concat();
    format!("{round}{stops}155s print {CLIENTS_HAVE_LEFT}\n3600s wait\n")
}

/// Compares sums of the samples with the totals of the report, and relists label set by label set.
#[track_caller]
fn equals_the_report(stored: &BTreeMap<Labels, f64>, report: &Value) {
    let sum = |name: &str, filters: &[(&str, &str)]| -> f64 {
        let has = |labels: &Labels| filters.iter().all(|(label, value)| labels.get(*label).is_some_and(|found| found == value));
        stored.iter().filter(|(labels, _)| labels["__name__"] == name && has(labels)).map(|(_, number)| number).sum()
    };
    let about_objects = ["added", "modified", "deleted"].map(|of_type| sum("watchtap_watch_events_total", &[("type", of_type)]));
    let from_etcd = [("verb", "LIST"), ("served_from", "etcd")];
    let totals = &report["totals"];
    let storms = report["storms"].as_array().unwrap();
    let of_storms = |field: &str| Some(storms.iter().filter_map(|storm| storm[field].as_f64()).sum());
    for (number, reported, of) in [
        (sum("watchtap_requests_total", &[]), totals["requests"].as_f64(), "requests"),
        (sum("watchtap_requests_total", &[("verb", "LIST")]), totals["lists"].as_f64(), "lists"),
        (sum("watchtap_requests_total", &from_etcd), totals["lists_from_etcd"].as_f64(), "lists from etcd"),
        (sum("watchtap_verdicts_total", &[("certainty", "confirmed")]), totals["confirmed"].as_f64(), "confirmed"),
        (sum("watchtap_watches_total", &[]), totals["watches"].as_f64(), "watches"),
        (about_objects.iter().sum(), totals["watch_events"].as_f64(), "events"),
        (sum("watchtap_list_items_total", &[]), totals["items"].as_f64(), "items"),
        (sum("watchtap_response_bytes_total", &[]), totals["response_bytes"].as_f64(), "bytes of responses"),
        (sum("watchtap_resumes_total", &[]), totals["resumes"].as_f64(), "resumes"),
        (sum("watchtap_storms_total", &[]), totals["storms"].as_f64(), "storms"),
        (sum("watchtap_storm_relists_total", &[]), of_storms("relists"), "relists in storms"),
        (sum("watchtap_storm_items_total", &[]), of_storms("items"), "items in storms"),
        (sum("watchtap_storm_repeated_items_total", &[]), of_storms("repeated"), "unchanged items in storms"),
        (sum("watchtap_storm_bytes_total", &[]), of_storms("bytes"), "bytes in storms"),
        (sum("watchtap_connections_total", &[]), totals["connections"].as_f64(), "connections"),
        (sum("watchtap_forwarded_bytes_total", &[("direction", "request")]), totals["forwarded"]["request"].as_f64(), "sent"),
        (sum("watchtap_observed_bytes_total", &[("direction", "response")]), totals["observed"]["response"].as_f64(), "received"),
    ] {
        assert_eq!(Some(number), reported, "{of}");
        assert!(number > 0.0, "{of}");
    }
    assert_eq!(Some(sum("watchtap_verdicts_total", &[("certainty", "contradicted")])), totals["contradicted"].as_f64());
    assert_eq!(Some(sum("watchtap_watches_open", &[])), Some(0.0), "all clients have left");
    assert_eq!(relists_stored(stored), relists_reported(report));
}

/// Relists by client, service account, resource and cause.
type Relists = BTreeMap<[String; 4], u64>;

fn relists_stored(stored: &BTreeMap<Labels, f64>) -> Relists {
    let mut relists = Relists::new();
    for (labels, number) in stored.iter().filter(|(labels, _)| labels["__name__"] == "watchtap_relists_total") {
        let label = |name: &str| labels.get(name).cloned().unwrap_or_default();
        let resource = [label("resource"), label("group")].join(".");
        let key = [label("client"), label("service_account"), resource.trim_end_matches('.').to_owned(), label("cause")];
        *relists.entry(key).or_default() += number.to_string().parse::<u64>().unwrap();
    }
    relists
}

fn relists_reported(report: &Value) -> Relists {
    let mut relists = Relists::new();
    for row in report["reflectors"].as_array().unwrap() {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let identity = &row["client"]["identity"];
        for (cause, number) in row["causes"].as_object().into_iter().flatten() {
            let program = text(&row["client"]["program"]);
            let program = program.split('/').next().unwrap().to_owned();
            let account = format!("{}/{}", text(&identity["namespace"]), text(&identity["name"]));
            *relists.entry([program, account, text(&row["resource"]), cause.clone()]).or_default() += number.as_u64().unwrap();
        }
    }
    relists
}

/// Compares the alerts that Prometheus ever raised with those of the story.
#[track_caller]
fn are_those_of_the_story(alerts: &[Labels]) {
    let raised = alerts.iter().map(|labels| (labels["alertname"].as_str(), labels["alertstate"].as_str()));
    assert_eq!(raised.collect::<BTreeSet<_>>(), BTreeSet::from(ALERTS), "{alerts:?}");
    for (alert, client) in [("WatchtapStuckReflector", "node-tuner"), ("WatchtapSlowReader", "archive-tail")] {
        let of_it = alerts.iter().filter(|labels| labels["alertname"] == alert);
        assert_eq!(of_it.map(|labels| labels["client"].as_str()).collect::<BTreeSet<_>>(), BTreeSet::from([client]), "{alert}");
    }
}
