//! The last metrics are the numbers of `/metrics` and of the report.

use std::collections::BTreeMap;

use observer_tests::Collected;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Text;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, Sum};
use serde_json::Value;

use super::story::{STORY, attributes};
use crate::otlp::translation::{total, translated};

#[test]
fn last_metrics_are_the_last_page() {
    let of_traffic = |samples: &BTreeMap<String, f64>| {
        let mut samples = samples.clone();
        // The state of watchtap itself changes, and only a page leaves out families.
        samples.retain(|series, _| !series.starts_with("process_") && series != "watchtap_families_left_out");
        samples
    };
    let (exported, page) = (of_traffic(&translated(&last_metrics(&STORY.collected))), of_traffic(&STORY.page));
    let different = page.iter().filter(|(series, number)| exported.get(*series) != Some(number));
    let different: Vec<_> = different.map(|(series, number)| (series, number, exported.get(series))).collect();
    let added: Vec<_> = exported.iter().filter(|(series, _)| !page.contains_key(*series)).collect();
    assert!(different.is_empty() && added.is_empty(), "{different:#?} {added:#?}");
    assert!(page.len() > 200, "{}", page.len());
}

#[test]
fn last_metrics_are_the_totals_of_the_report() {
    let samples = translated(&last_metrics(&STORY.collected));
    let sum = |name: &str, labels: &[&str]| -> u64 { labels.iter().map(|labels| total(&samples, name, labels)).sum() };
    let objects = ["type=\"added\"", "type=\"modified\"", "type=\"deleted\""];
    for (sum, of_report) in [
        (sum("watchtap_requests_total", &[""]), "requests"),
        (sum("watchtap_requests_total", &["verb=\"LIST\""]), "lists"),
        (sum("watchtap_watches_total", &[""]), "watches"),
        (sum("watchtap_watch_events_total", &objects), "watch_events"),
        (sum("watchtap_list_items_total", &[""]), "items"),
        (sum("watchtap_response_bytes_total", &[""]), "response_bytes"),
        (sum("watchtap_relists_total", &[""]), "relists"),
    ] {
        assert_eq!(Some(sum), STORY.report["totals"][of_report].as_u64(), "{of_report}");
        assert!(sum > 0, "{of_report}");
    }
}

/// The metrics of the last request with metrics.
pub(super) fn last_metrics(collected: &Collected) -> Vec<Metric> {
    collected.metrics().last().unwrap().iter().map(metric).collect()
}

/// A metric from its JSON form, as far as tests read it.
fn metric(json: &Value) -> Metric {
    let text = |name: &str| json[name].as_str().unwrap().to_owned();
    let of = |kind: &str| json.get(kind).map(|data| (data, data["dataPoints"].as_array().unwrap()));
    let temporality = |data: &Value| i32::try_from(data["aggregationTemporality"].as_i64().unwrap()).unwrap();
    let data = if let Some((data, points)) = of("sum") {
        Data::Sum(Sum {
            data_points: points.iter().map(number_point).collect(),
            aggregation_temporality: temporality(data),
            is_monotonic: data["isMonotonic"].as_bool().unwrap(),
        })
    } else if let Some((data, points)) = of("histogram") {
        let data_points = points.iter().map(histogram_point).collect();
        Data::Histogram(Histogram { data_points, aggregation_temporality: temporality(data) })
    } else {
        Data::Gauge(Gauge { data_points: of("gauge").unwrap().1.iter().map(number_point).collect() })
    };
    Metric { name: text("name"), unit: text("unit"), data: Some(data), ..Metric::default() }
}

fn number_point(json: &Value) -> NumberDataPoint {
    let whole = json.get("asInt").map(|number| Number::AsInt(integer(number)));
    let value = whole.unwrap_or_else(|| Number::AsDouble(json["asDouble"].as_f64().unwrap()));
    NumberDataPoint { attributes: labels(json), value: Some(value), ..NumberDataPoint::default() }
}

fn histogram_point(json: &Value) -> HistogramDataPoint {
    let elements = |name: &str| json[name].as_array().unwrap().iter();
    HistogramDataPoint {
        attributes: labels(json),
        count: integer(&json["count"]),
        sum: json["sum"].as_f64(),
        bucket_counts: elements("bucketCounts").map(integer).collect(),
        explicit_bounds: elements("explicitBounds").map(|bound| bound.as_f64().unwrap()).collect(),
        ..HistogramDataPoint::default()
    }
}

/// Integers of 64 bits are strings.
fn integer<N: std::str::FromStr<Err: std::fmt::Debug>>(json: &Value) -> N {
    json.as_str().unwrap().parse().unwrap()
}

/// In the order of the metric, which is that of the page.
fn labels(json: &Value) -> Vec<KeyValue> {
    let names = json["attributes"].as_array().into_iter().flatten().map(|one| one["key"].as_str().unwrap().to_owned());
    let values = attributes(json);
    let label = |key: String| {
        let value = values[&key].as_str().unwrap().to_owned();
        KeyValue { key, value: Some(AnyValue { value: Some(Text::StringValue(value)) }), ..KeyValue::default() }
    };
    names.map(label).collect()
}
