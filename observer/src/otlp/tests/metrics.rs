//! Requests with metrics of scripted traffic.

use std::collections::BTreeMap;
use std::time::SystemTime;

use observer_core::observer::{Limits, Observer};
use observer_core::series::{FAMILIES, Samples};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use prost::Message;

use crate::otlp::metric_requests::{MetricRequest, MetricRequests};

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
    let requests: Vec<_> = MetricRequests::of(&samples, SystemTime::now()).collect();
    let [request] = requests.as_slice() else { panic!("{} requests", requests.len()) };
    let helps: Vec<_> = metrics(request).into_iter().map(|metric| metric.description).collect();
    let expected = FAMILIES.iter().filter(|row| samples.of(row.family).next().is_some()).map(|row| row.help);
    assert_eq!(helps, expected.collect::<Vec<_>>());
}

#[test]
fn requests_have_a_bound_and_lose_no_point() {
    let samples = played();
    let all = points(MetricRequests::of(&samples, SystemTime::UNIX_EPOCH));
    for max_bytes in [0, 300, 5_000] {
        let requests: Vec<_> = MetricRequests::of(&samples, SystemTime::UNIX_EPOCH).of_size(max_bytes).collect();
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
fn clock_that_was_set_back_ends_no_time_before_its_begin() {
    let samples = played();
    let requests = MetricRequests::of(&samples, SystemTime::UNIX_EPOCH);
    for metric in requests.flat_map(|request| metrics(&request)) {
        if let Some(Data::Sum(sum)) = metric.data {
            assert!(sum.data_points.iter().all(|point| point.start_time_unix_nano == observer_script::START));
            assert!(sum.data_points.iter().all(|point| point.time_unix_nano == observer_script::START));
        }
    }
}

fn played() -> Samples {
    let mut observer = Observer::new(Limits::default());
    for observation in observer_script::observations(STORY) {
        observer.observe(observation, &mut |_| {});
    }
    observer.samples()
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
