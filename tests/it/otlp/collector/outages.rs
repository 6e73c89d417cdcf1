//! Collectors that are killed, and that start late.

use std::time::Duration;

use observer_core::observer::Event as Observed;
use observer_core::series::TapWord;
use observer_core::time::Timestamp;
use observer_tests::{OtelCollector, Port};
use serde_json::{Value, json};
use tempfile::TempDir;
use watchtap::memory_budget::OtlpLimits;
use watchtap::metrics::MetricsReader;
use watchtap::otlp::{Bounds, OtlpSink, Settings};
use watchtap::pipeline::{EventSink as _, SeriesReader};

use super::demo::{Demo, Event, events};
use super::metrics::last_metrics;
use super::story::attributes;
use crate::otlp::event_fields::flat;
use crate::otlp::translation::{total, translated};

/// Some ten events a second, without an end.
const SCRIPT: &str = "\
0s start reflectors app/1.0 client-go=1.34 watches=pods,configmaps
0s start changer deployer/1.1 every=200ms
0s start poller dashboard/2.0 lists=pods every=500ms
";
/// Events during an outage.
const MISSED: usize = 30;

#[test]
fn killed_and_restarted_collector_gets_everything() {
    let mut outage = Outage::begin();
    let mut second = OtelCollector::start(&outage.port, outage.folder.path(), "second").unwrap();
    second.wait_until(|collected| !collected.records().is_empty()).unwrap();
    let report = outage.end();
    let collected = second.stop().unwrap();
    let second = fields(&collected.records().concat());
    let first = outage.first.concat();
    let all = outage.events();
    assert_eq!(first, all[..first.len()]);
    assert!(second.len() <= all.len() && second.len() >= MISSED, "{}", second.len());
    assert_eq!(second, all[all.len() - second.len()..]);
    assert!(first.len() + second.len() >= all.len(), "{} and {} of {}", first.len(), second.len(), all.len());
    // The protocol delivers at least once: a request whose answer was lost is sent again.
    let twice = first.len() + second.len() - all.len();
    assert!([0, outage.last_request()].contains(&twice), "{twice}");
    assert_eq!(report["missed"]["not_exported"], Value::Null, "the field is absent if nothing was lost");
    let requests = total(&translated(&last_metrics(&collected)), "watchtap_requests_total", "");
    assert_eq!(Some(requests), report["totals"]["requests"].as_u64(), "the last numbers include the outage");
}

#[test]
fn records_after_the_last_collector_are_counted() {
    let mut outage = Outage::begin();
    let report = outage.end();
    let first = outage.first.concat();
    let all = outage.events();
    assert_eq!(first, all[..first.len()]);
    let lost = all.len() - first.len();
    assert!(lost >= MISSED, "{lost}");
    // The collector may have been killed before its last answer.
    let counted = noted(&report, &format!("OTLP records did not reach {}", outage.url));
    assert!([lost, lost + outage.last_request()].contains(&counted), "{counted}, not {lost}");
    let points = noted(&report, &format!("final OTLP data points did not reach {}", outage.url));
    assert!(points > 50, "{points}");
    assert_eq!(report["missed"]["not_exported"], json!(counted + points));
}

#[test]
fn late_collector_gets_what_the_queue_holds_and_the_rest_is_counted() {
    let (port, folder) = (Port::reserve().unwrap(), TempDir::new().unwrap());
    let url = format!("http://127.0.0.1:{}", port.number());
    let memory = OtlpLimits { queue: 20_000, ..OtlpLimits::default() };
    let bounds = Bounds { memory, flush: Duration::from_mins(2) };
    // Without an Observer, there are no metrics.
    let reader = MetricsReader::new(SeriesReader::begin(&[]).0, TapWord::Replay);
    let mut sink = OtlpSink::start(Settings::without_spans(Some(&url), |_variable| None).unwrap(), reader, bounds).unwrap();
    for number in 0..1_000 {
        sink.event(&Observed::ConnectFailed { at: Timestamp::from_nanos(number), why: format!("failure {number}") }).unwrap();
    }
    let lost = sink.take_undelivered();
    let collector = OtelCollector::start(&port, folder.path(), "late").unwrap();
    let notes = sink.finish();
    let received = collector.stop().unwrap().records().concat();
    let bodies: Vec<&str> = received.iter().map(|record| record["body"]["stringValue"].as_str().unwrap()).collect();
    // The oldest are kept.
    let expected = (0..1_000 - lost).map(|number| format!("failed a client could not be connected: failure {number}"));
    assert_eq!(bodies, expected.collect::<Vec<_>>());
    assert!(lost > 0 && lost < 1_000, "{lost}");
    assert_eq!(sink.take_undelivered(), 0);
    assert_eq!(notes, [format!("{lost} OTLP records did not reach {url}: {lost} without room in the queue")]);
}

/// A demo whose collector was killed.
struct Outage {
    port: Port,
    folder: TempDir,
    url: String,
    demo: Demo,
    /// The records that the collector had received, by request.
    first: Vec<Vec<Record>>,
    /// The lines of `--events` so far.
    lines: Vec<String>,
}

/// Its name, and its attributes.
type Record = (String, Value);

impl Outage {
    /// Kills the collector after its first records, and waits for events that it does not get.
    fn begin() -> Self {
        let (port, folder) = (Port::reserve().unwrap(), TempDir::new().unwrap());
        let mut collector = OtelCollector::start(&port, folder.path(), "first").unwrap();
        let url = collector.url().to_owned();
        let demo = Demo::start(SCRIPT, &url, &["--quiet", "--events", "-"]);
        collector.wait_until(|collected| collected.records().concat().len() >= MISSED).unwrap();
        let first: Vec<_> = collector.kill().unwrap().records().iter().map(|records| fields(records)).collect();
        let received: usize = first.iter().map(Vec::len).sum();
        // The first line is the schema.
        let lines = (0..=received + MISSED).map(|_| demo.stdout.next_line().unwrap().unwrap()).collect();
        Self { port, folder, url, demo, first, lines }
    }

    /// Ends the demo, and returns its report.
    fn end(&mut self) -> Value {
        let (report, rest) = self.demo.finish();
        self.lines.extend(rest);
        report
    }

    fn events(&self) -> Vec<Record> {
        events(self.lines.iter().map(String::as_str)).into_iter().map(of_event).collect()
    }

    /// The number of records in the last request before the kill.
    fn last_request(&self) -> usize {
        self.first.last().map_or(0, Vec::len)
    }
}

/// The number in the note that continues with this text. Its reason is that the records are unsent at the end.
#[track_caller]
fn noted(report: &Value, text: &str) -> usize {
    let notes = report["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap());
    let numbers = notes.filter_map(|note| {
        let (number, rest) = note.split_once(' ')?;
        rest.starts_with(&format!("{text}: {number} unsent at the end")).then(|| number.parse().unwrap())
    });
    let numbers: Vec<usize> = numbers.collect();
    assert_eq!(numbers.len(), 1, "{text}: {report}");
    numbers[0]
}

fn of_event(mut event: Event) -> Record {
    let name = event.remove("event").unwrap();
    (format!("watchtap.{}", name.as_str().unwrap()), json!(flat(&event)))
}

fn fields(records: &[Value]) -> Vec<Record> {
    records.iter().map(|record| (record["eventName"].as_str().unwrap().to_owned(), json!(attributes(record)))).collect()
}
