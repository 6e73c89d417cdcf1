//! Metrics by OTLP: the numbers of `/metrics`, at an interval and at the end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::mpsc::{Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use observer_core::observer::{Limits, Observer};
use observer_core::series::TapWord;
use observer_script::START;
use observer_tests::scrape::Scraper;
use observer_tests::{OtlpReceiver, OtlpReply, OtlpRequest, Port};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use watchtap::memory_budget::MemoryBudget;
use watchtap::metrics::{MetricsReader, MetricsServer};
use watchtap::otlp::{Bounds, OtlpSink, Settings};
use watchtap::pipeline::{EventSink, SeriesReader};

use super::translation::{points, total, translated};

/// Numbers of each kind and unit.
const STORY: &str = "
    0s server v1.34.4
    0s a connects client=operator/v1 as=a/robot
    1s a1 GET /api/v1/pods?limit=500&resourceVersion=0
    1s a1 bytes 700
    1s a1 whole rv=10 x@5
    2s a2 GET /api/v1/pods?watch=1&resourceVersion=10&allowWatchBookmarks=true&timeoutSeconds=400
    2s a2 opens
    3s a2 BOOKMARK @10
    4s a2 blocked
    6500ms a2 unblocked
    7s a3 PATCH /api/v1/namespaces/default/pods/x
    7s a3 written x@11
    7250ms a2 MODIFIED x@11
    8s a2 ERROR 410 Expired
    8s a2 ends
    8s a4 GET /api/v1/pods?resourceVersion=11
    9s a4 whole rv=12 x@5
    10s b connects client=other/v1
    10s b1 GET /healthz
";

/// A script that continues it.
const LATER: &str = "20s b1 refused 500 InternalError";

const OFTEN: (&str, &str) = ("OTEL_METRIC_EXPORT_INTERVAL", "20");
const NEVER: (&str, &str) = ("OTEL_METRIC_EXPORT_INTERVAL", "86400000");

#[test]
fn received_numbers_are_those_of_the_page() {
    let receiver = OtlpReceiver::start(0, []).unwrap();
    let run = Run::of(STORY);
    let mut sink = run.export(&receiver.url(), &[OFTEN], bounds());
    let page =
        MetricsServer::start("127.0.0.1:0".parse().unwrap(), run.reader.clone(), MemoryBudget::default().metrics_page).unwrap();
    let page = Scraper::at(page.address()).scrape().unwrap().samples().unwrap();
    let page: BTreeMap<String, f64> = page.into_iter().map(|(series, number)| (series, number.parse().unwrap())).collect();
    receiver.wait_until(|requests| !requests.is_empty()).unwrap();
    let metrics = receiver.last_metrics();
    let of_traffic = |samples: &BTreeMap<String, f64>| {
        let mut samples = samples.clone();
        // The state of watchtap itself changes, and only a page leaves out families.
        samples.retain(|series, _| !series.starts_with("process_") && series != "watchtap_families_left_out");
        samples
    };
    assert_eq!(of_traffic(&translated(&metrics)), of_traffic(&page));
    let names = |samples: &BTreeMap<String, f64>| samples.keys().filter(|series| series.starts_with("process_")).cloned().collect();
    let names: [Vec<String>; 2] = [&translated(&metrics), &page].map(names);
    assert_eq!(names[0], names[1]);
    assert!(receiver.requests().iter().all(|request| request.path == "/v1/metrics"));
    for metric in &metrics {
        let times: Vec<(u64, u64)> = match metric.data.as_ref().unwrap() {
            Data::Sum(sum) => sum.data_points.iter().map(|point| (point.start_time_unix_nano, point.time_unix_nano)).collect(),
            Data::Histogram(histogram) => {
                histogram.data_points.iter().map(|point| (point.start_time_unix_nano, point.time_unix_nano)).collect()
            }
            Data::Gauge(_) | Data::ExponentialHistogram(_) | Data::Summary(_) => continue,
        };
        let is_of_the_process = metric.name.starts_with("process.");
        assert!(times.iter().all(|(start, time)| start < time && (*start == START || is_of_the_process)), "{metric:?}");
    }
    run.end();
    assert_eq!((sink.finish(), sink.take_undelivered()), (vec![], 0));
}

#[test]
fn restarted_receiver_gets_the_newest_numbers() {
    let port = Port::reserve().unwrap();
    let url = format!("http://127.0.0.1:{}", port.number());
    let run = Run::of(STORY);
    let mut sink = run.export(&url, &[OFTEN], bounds());
    let first = OtlpReceiver::start(port.number(), []).unwrap();
    first.wait_until(|requests| counts(requests, 4)).unwrap();
    drop(first);
    run.continue_with(LATER);
    let second = OtlpReceiver::start(port.number(), []).unwrap();
    second.wait_until(|requests| counts(requests, 5)).unwrap();
    drop(second);
    run.end();
    let third = OtlpReceiver::start(port.number(), []).unwrap();
    assert_eq!((sink.finish(), sink.take_undelivered()), (vec![], 0));
    assert!(counts(&third.requests(), 5), "{:?}", third.requests());
}

#[test]
fn last_numbers_are_exported_whatever_the_interval() {
    let replies = [503, 429].map(|status| OtlpReply::Status(status, None));
    let receiver = OtlpReceiver::start(0, replies).unwrap();
    let run = Run::of(STORY);
    let mut sink = run.export(&receiver.url(), &[NEVER], bounds());
    run.continue_with(LATER);
    run.end();
    assert_eq!((sink.finish(), sink.take_undelivered()), (vec![], 0));
    let requests = receiver.requests();
    assert_eq!(requests.iter().map(|request| request.taken).collect::<Vec<_>>(), [false, false, true]);
    assert!(counts(&requests, 5));
}

#[test]
fn last_numbers_that_do_not_arrive_are_counted() {
    let cases = [
        (OtlpReply::Silence, "all unsent at the end"),
        (OtlpReply::Status(503, Some(3_600)), "all unsent at the end (503 Service Unavailable)"),
        (OtlpReply::Status(404, None), "all refused (404 Not Found; check the path of its URL)"),
        (OtlpReply::Reject(3, "too old".to_owned()), "3 refused (too old)"),
    ];
    thread::scope(|scope| {
        for (reply, expected) in cases {
            scope.spawn(move || check_losses(reply, expected));
        }
    });
}

/// Exports the last numbers only, with this reply.
fn check_losses(reply: OtlpReply, expected: &str) {
    let receiver = OtlpReceiver::start(0, [reply]).unwrap();
    let run = Run::of(STORY);
    let mut sink = run.export(&receiver.url(), &[NEVER], Bounds::default());
    run.end();
    let troubles = sink.finish();
    let all: usize = receiver.requests()[0].metrics.iter().map(points).sum();
    let lost = if expected.starts_with("all") { all } else { 3 };
    let expected = expected.replace("all", &all.to_string());
    assert_eq!(troubles, [format!("{lost} final OTLP data points did not reach {}: {expected}", receiver.url())]);
    assert_eq!((sink.take_undelivered(), sink.take_undelivered()), (lost as u64, 0));
}

#[test]
fn numbers_that_newer_ones_replace_are_no_loss() {
    let replies = [OtlpReply::Status(400, None), OtlpReply::Reject(1, String::new()), OtlpReply::Silence];
    let receiver = OtlpReceiver::start(0, replies).unwrap();
    let run = Run::of(STORY);
    let mut sink = run.export(&receiver.url(), &[OFTEN], bounds());
    // The end does not wait for an answer to older numbers.
    receiver.wait_until(|requests| requests.len() >= 3).unwrap();
    assert_eq!(sink.take_undelivered(), 0);
    run.end();
    assert_eq!((sink.finish(), sink.take_undelivered()), (vec![], 0));
    assert!(receiver.requests().last().unwrap().taken);
}

/// An Observer on a thread, which answers readers.
struct Run {
    reader: MetricsReader,
    scripts: Sender<String>,
    thread: JoinHandle<()>,
}

impl Run {
    /// The run of a script that has been played.
    fn of(script: &str) -> Self {
        let (reader, mut source) = SeriesReader::begin(&[]);
        let (scripts, played) = channel::<String>();
        let begin = script.to_owned();
        let thread = thread::spawn(move || {
            let mut observer = Observer::new(Limits::default());
            let mut all = begin;
            let mut done = 0;
            let mut play = |more: &str, observer: &mut Observer| {
                all.push_str(more);
                let observations = observer_script::observations(&all);
                let new = observations.len();
                observations.into_iter().skip(done).for_each(|one| observer.observe(one, &mut |_| {}));
                done = new;
            };
            play("", &mut observer);
            loop {
                match played.try_recv() {
                    Ok(more) => play(&more, &mut observer),
                    Err(TryRecvError::Empty) => source.answer_for(Duration::from_millis(5), &observer),
                    Err(TryRecvError::Disconnected) => break source.end(&observer),
                }
            }
        });
        Self { reader: MetricsReader::new(reader, TapWord::Replay), scripts, thread }
    }

    fn export(&self, url: &str, variables: &[(&str, &str)], bounds: Bounds) -> OtlpSink {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        OtlpSink::start(Settings::without_spans(Some(url), variable).unwrap(), self.reader.clone(), bounds).unwrap()
    }

    fn continue_with(&self, script: &str) {
        self.scripts.send(script.to_owned()).unwrap();
    }

    /// Ends observing. The last numbers are known then.
    fn end(self) {
        drop(self.scripts);
        self.thread.join().unwrap();
    }
}

/// Time enough at the end, however busy the machine is.
fn bounds() -> Bounds {
    Bounds { flush: Duration::from_mins(2), ..Bounds::default() }
}

/// Whether the last request counts so many requests of clients.
fn counts(requests: &[OtlpRequest], number: u64) -> bool {
    requests.last().is_some_and(|last| total(&translated(&last.metrics), "watchtap_requests_total", "") == number)
}
