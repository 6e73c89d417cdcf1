//! The numbers of one moment as metrics, in requests of bounded size.
//!
//! Temporality is cumulative, as in the core: a request that is lost takes nothing away from the next one. Names of attributes are
//! those of Prometheus' labels, without a prefix, because the usual translation would keep it.

use std::time::SystemTime;

use observer_core::series::{FAMILIES, Family, FamilyRow, Kind, Sample, Samples, Unit, Value};
use observer_core::time::Timestamp;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as PointValue;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, Sum,
};
use prost::Message;

use super::any_value::text;
use super::metric_name::{name, unit};

/// Bytes of a point beside its own.
const OVERHEAD: usize = 8;

/// The requests for the numbers of one moment, in the order of the table.
pub(super) struct MetricRequests<'s> {
    samples: &'s Samples,
    times: Times,
    max_bytes: usize,
    /// The next point: its family, and its place there.
    family: usize,
    place: usize,
}

/// The content of one request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MetricRequest {
    /// Encoded metrics.
    pub(super) metrics: Vec<Vec<u8>>,
    /// Number of their points.
    pub(super) points: u64,
}

/// In nanoseconds since the Unix epoch.
#[derive(Clone, Copy)]
struct Times {
    observing_began: u64,
    process_began: u64,
    now: u64,
}

/// The number of one label set.
enum Point {
    Number(NumberDataPoint),
    Histogram(HistogramDataPoint),
}

impl<'s> MetricRequests<'s> {
    /// The requests for `samples`, which were read at `now` of the machine's clock. Their points have at most `max_bytes` bytes each.
    pub(super) fn of(samples: &'s Samples, now: SystemTime, max_bytes: usize) -> Self {
        Self { samples, times: Times::of(samples, now), max_bytes, family: 0, place: 0 }
    }
}

impl Iterator for MetricRequests<'_> {
    type Item = MetricRequest;

    fn next(&mut self) -> Option<MetricRequest> {
        let (mut request, mut bytes) = (MetricRequest::default(), 0_usize);
        while let Some(row) = FAMILIES.get(self.family) {
            let (mut points, mut is_full) = (Vec::new(), false);
            for sample in self.samples.of(row.family).skip(self.place) {
                let point = Point::of(row, &sample, &self.times);
                bytes = bytes.saturating_add(point.memory());
                // One point has room in any request.
                is_full = bytes > self.max_bytes && !(request.metrics.is_empty() && points.is_empty());
                if is_full {
                    break;
                }
                points.push(point);
            }
            self.place += points.len();
            request.add(row, points);
            if is_full {
                return Some(request);
            }
            (self.family, self.place) = (self.family + 1, 0);
        }
        (request.points > 0).then_some(request)
    }
}

impl MetricRequest {
    /// Adds the points of a family. One without points has never counted, and is left out.
    fn add(&mut self, row: &FamilyRow, points: Vec<Point>) {
        if points.is_empty() {
            return;
        }
        self.points = self.points.saturating_add(points.len() as u64);
        self.metrics.push(metric(row, points).encode_to_vec());
    }
}

impl Times {
    fn of(samples: &Samples, now: SystemTime) -> Self {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let began = |at: Timestamp| {
            // A clock that was set back takes the begin with it, so that it stays before `now`. One that was set forward does not: the
            // receiver would take another begin for a reset, and count what it has counted already once more. Then only the time since
            // the begin is too long.
            at.wall_nanos().min(at.by_clock_of(samples.at).wall_nanos()).min(now)
        };
        let observing_began = samples.started.map_or(now, began);
        let process_began = samples.of(Family::ProcessStart).next();
        let process_began = process_began.map(|sample| Timestamp::from_nanos(sample.count().saturating_mul(1_000)));
        Self { observing_began, process_began: process_began.map_or(observing_began, began), now }
    }

    /// When a family began to count; 0 for a gauge, which does not count.
    fn began(&self, row: &FamilyRow) -> u64 {
        match (row.kind, row.family) {
            (Kind::Gauge, _) => 0,
            (Kind::Counter, Family::ProcessCpu) => self.process_began,
            (Kind::Counter | Kind::Histogram { .. }, _) => self.observing_began,
        }
    }
}

impl Point {
    fn of(row: &FamilyRow, sample: &Sample<'_>, times: &Times) -> Self {
        let attributes = sample.labels.iter().map(|(name, value)| KeyValue {
            key: (*name).to_owned(),
            value: Some(text(&**value)),
            ..KeyValue::default()
        });
        let (attributes, start_time_unix_nano, time_unix_nano) = (attributes.collect(), times.began(row), times.now);
        match (sample.value, row.kind) {
            (Value::Histogram(histogram), Kind::Histogram { bounds }) => Self::Histogram(HistogramDataPoint {
                attributes,
                start_time_unix_nano,
                time_unix_nano,
                count: histogram.count(),
                sum: Some(seconds(histogram.sum_us())),
                // The last one has no bound.
                bucket_counts: histogram.buckets().iter().take(bounds.len() + 1).copied().collect(),
                explicit_bounds: bounds.iter().copied().map(seconds).collect(),
                ..HistogramDataPoint::default()
            }),
            (Value::Histogram(_) | Value::Count(_), _) => Self::Number(NumberDataPoint {
                attributes,
                start_time_unix_nano,
                time_unix_nano,
                value: Some(match row.unit() {
                    Unit::Seconds => PointValue::AsDouble(seconds(sample.count())),
                    Unit::One | Unit::Bytes => PointValue::AsInt(i64::try_from(sample.count()).unwrap_or(i64::MAX)),
                }),
                ..NumberDataPoint::default()
            }),
        }
    }

    fn memory(&self) -> usize {
        OVERHEAD
            + match self {
                Self::Number(point) => point.encoded_len(),
                Self::Histogram(point) => point.encoded_len(),
            }
    }
}

fn metric(row: &FamilyRow, points: Vec<Point>) -> Metric {
    let (mut data_points, mut histograms) = (Vec::new(), Vec::new());
    for point in points {
        match point {
            Point::Number(point) => data_points.push(point),
            Point::Histogram(point) => histograms.push(point),
        }
    }
    let aggregation_temporality = AggregationTemporality::Cumulative.into();
    let data = match row.kind {
        Kind::Counter => Data::Sum(Sum { data_points, aggregation_temporality, is_monotonic: true }),
        Kind::Gauge => Data::Gauge(Gauge { data_points }),
        Kind::Histogram { .. } => Data::Histogram(Histogram { data_points: histograms, aggregation_temporality }),
    };
    Metric {
        name: name(row),
        description: row.help.to_owned(),
        unit: unit(row, row.unit()).to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a double is exact for 285 years of microseconds")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
