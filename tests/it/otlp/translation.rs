//! Metrics of OTLP as Prometheus stores them.
//!
//! Upstream: open-telemetry/opentelemetry-specification `specification/compatibility/prometheus_and_openmetrics.md` (v1.60), for
//! the units and kinds that watchtap has.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, HistogramDataPoint, Metric};

/// All samples: name and labels as a page of `/metrics` has them, and the number.
pub(super) fn translated(metrics: &[Metric]) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    for metric in metrics {
        let added = samples.len() + points(metric);
        add(metric, &mut samples);
        assert!(samples.len() >= added, "two samples of {} have the same labels", metric.name);
    }
    samples
}

/// The sum of all samples of a name whose labels contain `labels`. Their numbers are integers.
pub(super) fn total(samples: &BTreeMap<String, f64>, name: &str, labels: &str) -> u64 {
    let of_name = samples.iter().filter(|(series, _)| series.split('{').next() == Some(name) && series.contains(labels));
    of_name.map(|(_, number)| number.to_string().parse::<u64>().unwrap()).sum()
}

/// Number of the points of a metric.
pub(super) fn points(metric: &Metric) -> usize {
    match metric.data.as_ref().unwrap() {
        Data::Gauge(gauge) => gauge.data_points.len(),
        Data::Sum(sum) => sum.data_points.len(),
        Data::Histogram(histogram) => histogram.data_points.len(),
        other @ (Data::ExponentialHistogram(_) | Data::Summary(_)) => panic!("{other:?}"),
    }
}

fn add(metric: &Metric, samples: &mut BTreeMap<String, f64>) {
    let cumulative = i32::from(AggregationTemporality::Cumulative);
    let base = with_unit(&metric.name, &metric.unit);
    let (name, numbers) = match metric.data.as_ref().unwrap() {
        Data::Gauge(gauge) => (base, &gauge.data_points),
        Data::Sum(sum) => {
            assert!(sum.is_monotonic && sum.aggregation_temporality == cumulative, "{metric:?}");
            (format!("{base}_total"), &sum.data_points)
        }
        Data::Histogram(histogram) => {
            assert_eq!(histogram.aggregation_temporality, cumulative, "{metric:?}");
            return histogram.data_points.iter().for_each(|point| add_histogram(&base, point, samples));
        }
        other @ (Data::ExponentialHistogram(_) | Data::Summary(_)) => panic!("{other:?}"),
    };
    for point in numbers {
        #[expect(clippy::cast_precision_loss, reason = "numbers of a test are small")]
        let number = match point.value.unwrap() {
            Number::AsInt(number) => number as f64,
            Number::AsDouble(number) => number,
        };
        samples.insert(series(&name, &point.attributes, None), number);
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of a test are small")]
fn add_histogram(base: &str, point: &HistogramDataPoint, samples: &mut BTreeMap<String, f64>) {
    assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1, "{point:?}");
    let bounds = point.explicit_bounds.iter().map(|bound| format!("{bound:?}")).chain(["+Inf".to_owned()]);
    let mut below = 0;
    for (bound, count) in bounds.zip(&point.bucket_counts) {
        below += count;
        samples.insert(series(&format!("{base}_bucket"), &point.attributes, Some(&bound)), below as f64);
    }
    assert_eq!(below, point.count, "{point:?}");
    samples.insert(series(&format!("{base}_count"), &point.attributes, None), point.count as f64);
    samples.insert(series(&format!("{base}_sum"), &point.attributes, None), point.sum.unwrap());
}

/// The name with underscores, and with its unit unless it has it already.
fn with_unit(name: &str, unit: &str) -> String {
    let name = name.replace('.', "_");
    let suffix = match unit {
        "s" => "seconds",
        "By" => "bytes",
        unit if unit.starts_with('{') && unit.ends_with('}') => return name,
        other => panic!("{other:?} has other rules"),
    };
    if name.split('_').any(|word| word == suffix) { name } else { format!("{name}_{suffix}") }
}

fn series(name: &str, attributes: &[KeyValue], bound: Option<&str>) -> String {
    let text = |one: &KeyValue| match one.value.as_ref().unwrap().value.as_ref().unwrap() {
        Value::StringValue(text) => format!("{}=\"{text}\"", one.key),
        other @ (Value::BoolValue(_)
        | Value::IntValue(_)
        | Value::DoubleValue(_)
        | Value::ArrayValue(_)
        | Value::KvlistValue(_)
        | Value::BytesValue(_)
        | Value::StringValueStrindex(_)) => panic!("{other:?}"),
    };
    let labels: Vec<String> = attributes.iter().map(text).chain(bound.map(|bound| format!("le=\"{bound}\""))).collect();
    if labels.is_empty() { name.to_owned() } else { format!("{name}{{{}}}", labels.join(",")) }
}
