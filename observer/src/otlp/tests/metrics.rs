//! Requests with metrics of scripted traffic.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use observer_core::observer::{Limits, Observer};
use observer_core::series::{FAMILIES, ProcessNumbers, Samples, ShellNumbers};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use prost::Message;

use crate::memory_budget::METRICS_PAGE;
use crate::otlp::metric_requests::{MetricRequest, MetricRequests};

/// In nanoseconds.
const HOUR: u64 = 3_600_000_000_000;

/// When observing began.
const BEGUN: u64 = observer_script::START;

/// Requests of two clients.
const STORY: &str = "
    0s server v1.34.4
    0s a connects client=one/1.0
    0s b connects client=two/1.0
    1s a1 GET /api/v1/pods?limit=500&resourceVersion=0
    3s a1 whole rv=10 x@5 y@6
    4s b1 GET /apis/apps/v1/deployments
    4s b1 whole rv=12 x@5
";

#[test]
fn metrics_are_in_the_order_of_the_table() {
    let samples = played();
    let requests: Vec<_> = MetricRequests::of(&samples, SystemTime::now(), METRICS_PAGE).collect();
    let [request] = requests.as_slice() else { panic!("{} requests", requests.len()) };
    let helps: Vec<_> = metrics(request).into_iter().map(|metric| metric.description).collect();
    let expected = FAMILIES.iter().filter(|row| samples.of(row.family).next().is_some()).map(|row| row.help);
    assert_eq!(helps, expected.collect::<Vec<_>>());
}

#[test]
fn requests_have_a_bound_and_lose_no_point() {
    let samples = played();
    let all = points(MetricRequests::of(&samples, SystemTime::UNIX_EPOCH, METRICS_PAGE));
    for max_bytes in [0, 300, 5_000] {
        let requests: Vec<_> = MetricRequests::of(&samples, SystemTime::UNIX_EPOCH, max_bytes).collect();
        for request in &requests {
            let size: usize = metrics(request).iter().map(points_size).sum();
            assert!(size <= max_bytes || request.points == 1, "{size} bytes in {} points", request.points);
            assert_eq!(request.points, metrics(request).iter().map(|metric| texts(metric).len() as u64).sum::<u64>());
        }
        assert!(requests.len() > 2, "{}", requests.len());
        assert_eq!(points(requests.into_iter()), all);
    }
}

#[test]
fn clock_that_is_set_back_takes_the_begin_with_it() {
    let mut samples = played();
    for (ahead, now, began) in [
        (0, BEGUN + HOUR, BEGUN),
        // Right after the step, and an hour later.
        (-2, BEGUN - HOUR, BEGUN - 2 * HOUR),
        (-2, BEGUN, BEGUN - 2 * HOUR),
        (2, BEGUN + 3 * HOUR, BEGUN),
        // No observation has noticed this step yet.
        (0, BEGUN - HOUR, BEGUN - HOUR),
    ] {
        samples.at = samples.at.with_wall_ahead(ahead * HOUR.cast_signed());
        assert_eq!(times(&samples, now), BTreeSet::from([(began, now)]), "{ahead} h");
    }
}

#[test]
fn clock_that_is_set_back_takes_the_begin_of_the_process_with_it() {
    let started_us = (BEGUN - HOUR) / 1_000;
    let process = ProcessNumbers { started_us, cpu_us: 1, resident_bytes: 1, virtual_bytes: 1, open_files: 1, most_files: 1 };
    let mut samples = played().with(&ShellNumbers { process: Some(process), ..ShellNumbers::default() });
    samples.at = samples.at.with_wall_ahead(-2 * HOUR.cast_signed());
    let now = BEGUN - HOUR;
    assert_eq!(times(&samples, now), BTreeSet::from([(BEGUN - 3 * HOUR, now), (BEGUN - 2 * HOUR, now)]));
}

fn played() -> Samples {
    let mut observer = Observer::new(Limits::default());
    for observation in observer_script::observations(STORY) {
        observer.observe(observation, &mut |_| {});
    }
    observer.samples()
}

/// Begin and time of all points that count, in requests made at `now`.
fn times(samples: &Samples, now: u64) -> BTreeSet<(u64, u64)> {
    let of = |metric: Metric| match metric.data.unwrap() {
        Data::Sum(sum) => sum.data_points.iter().map(|point| (point.start_time_unix_nano, point.time_unix_nano)).collect(),
        Data::Histogram(histogram) => {
            histogram.data_points.iter().map(|point| (point.start_time_unix_nano, point.time_unix_nano)).collect()
        }
        Data::Gauge(_) | Data::ExponentialHistogram(_) | Data::Summary(_) => Vec::new(),
    };
    let requests = MetricRequests::of(samples, SystemTime::UNIX_EPOCH + Duration::from_nanos(now), METRICS_PAGE);
    requests.flat_map(|request| metrics(&request)).flat_map(of).collect()
}

/// The points by name of their metric.
fn points(requests: impl Iterator<Item = MetricRequest>) -> BTreeMap<String, Vec<String>> {
    let mut points = BTreeMap::<String, Vec<String>>::new();
    for metric in requests.flat_map(|request| metrics(&request)) {
        points.entry(metric.name.clone()).or_default().extend(texts(&metric));
    }
    points
}

fn metrics(request: &MetricRequest) -> Vec<Metric> {
    request.metrics.iter().map(|metric| Metric::decode(metric.as_slice()).unwrap()).collect()
}

fn texts(metric: &Metric) -> Vec<String> {
    match metric.data.as_ref().unwrap() {
        Data::Sum(sum) => sum.data_points.iter().map(|point| format!("{point:?}")).collect(),
        Data::Gauge(gauge) => gauge.data_points.iter().map(|point| format!("{point:?}")).collect(),
        Data::Histogram(histogram) => histogram.data_points.iter().map(|point| format!("{point:?}")).collect(),
        other @ (Data::ExponentialHistogram(_) | Data::Summary(_)) => panic!("{other:?}"),
    }
}

fn points_size(metric: &Metric) -> usize {
    match metric.data.as_ref().unwrap() {
        Data::Sum(sum) => sum.data_points.iter().map(Message::encoded_len).sum(),
        Data::Gauge(gauge) => gauge.data_points.iter().map(Message::encoded_len).sum(),
        Data::Histogram(histogram) => histogram.data_points.iter().map(Message::encoded_len).sum(),
        other @ (Data::ExponentialHistogram(_) | Data::Summary(_)) => panic!("{other:?}"),
    }
}
