//! Traces of slow requests, in the logs of kube-apiserver and of clients: a block of lines with one number.
//!
//! kubernetes/utils `trace/trace.go` writes them, at the commits that kubernetes/apiserver 1.16.0 to v0.36.0 use. From 1.26 on,
//! kubernetes/component-base `tracing/tracing.go` nests the spans of one request in one block. From 1.31 on, servers write none below
//! verbosity 2.

mod collector;
mod part;
mod request_trace;

pub use collector::TraceCollector;
pub use part::TracePart;
pub(super) use part::parts;
pub use request_trace::{EtcdListSpan, LayerSpans, RequestTrace, TraceSpan, TraceStep};
