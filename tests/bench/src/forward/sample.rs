//! The measurement of one way in one round.

use std::time::Duration;

use serde::Serialize;

use super::latency::Latencies;

/// The data that a client received.
#[derive(Debug, Default)]
pub(super) struct Served {
    /// Body bytes.
    pub(super) bytes: u64,
    /// Requests, events or connections.
    pub(super) operations: u64,
    /// From the first request to the last byte received.
    pub(super) elapsed: Duration,
    /// Latency of each operation; empty if operations are long.
    pub(super) latencies: Latencies,
}

/// One measurement, with its CPU time.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Sample {
    /// CPU seconds of the proxy, with all threads and processes; 0 without a proxy.
    pub(super) cpu_seconds: f64,
    /// Duration in seconds, measured by the client.
    pub(super) seconds: f64,
    /// Body bytes.
    pub(super) bytes: u64,
    /// Requests, events or connections.
    pub(super) operations: u64,
    /// 99th percentile of the latency in seconds.
    pub(super) p99_seconds: Option<f64>,
    /// Additional memory of the proxy in bytes, compared with the time before the load; measured for idle connections only.
    pub(super) memory: Option<u64>,
}

impl Sample {
    pub(super) fn of(served: &mut Served, cpu: Duration) -> Self {
        Self {
            cpu_seconds: cpu.as_secs_f64(),
            seconds: served.elapsed.as_secs_f64(),
            bytes: served.bytes,
            operations: served.operations,
            p99_seconds: served.latencies.p99().map(|latency| latency.as_secs_f64()),
            memory: None,
        }
    }
}
