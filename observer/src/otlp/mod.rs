//! Exports log records, metrics and spans to an OpenTelemetry collector, by OTLP over HTTP with bodies in protobuf (`--otlp`).
//!
//! Upstream: open-telemetry/opentelemetry-proto `docs/specification.md` (v1.11) and open-telemetry/opentelemetry-specification
//! `specification/protocol/exporter.md` (v1.60). The SDK is not used: what it would count and sample is already counted in the
//! core, and watchtap has its own HTTP client and TLS. gRPC and JSON are not spoken.
//!
//! A collector that is slow or gone costs nothing but the records that its bounded queue has no room for; these are counted.

mod account;
mod answer;
mod any_value;
mod backoff;
mod client_spans;
mod closing;
mod collector;
mod destination;
mod endpoint;
mod export_request;
mod exporter;
mod headers;
mod key_value_list;
mod latest;
mod log_record;
mod metric_name;
mod metric_requests;
mod metrics_export;
mod queue;
mod resource;
mod sender;
mod settings;
mod severity;
mod sink;
mod span_ids;
mod url_template;

pub use endpoint::{Endpoint, EndpointError};
pub use settings::{Settings, SettingsError};
pub use sink::{Bounds, OtlpSink};

#[cfg(test)]
mod tests;
