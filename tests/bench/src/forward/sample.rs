//! What one way did in one round.

use std::time::Duration;

use serde::Serialize;

use super::latency::Latencies;

/// What a client got.
#[derive(Debug, Default)]
pub(super) struct Served {
    /// Body bytes.
    pub(super) bytes: u64,
    /// Requests, events or connections.
    pub(super) operations: u64,
    /// From the first byte asked for to the last one that came.
    pub(super) elapsed: Duration,
    /// Of each operation; empty where one operation is long.
    pub(super) latencies: Latencies,
}

/// A measurement.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Sample {
    /// CPU seconds of the proxy, all its threads and processes; 0 where there is none.
    pub(super) cpu_seconds: f64,
    /// Seconds that the client needed.
    pub(super) seconds: f64,
    /// Body bytes.
    pub(super) bytes: u64,
    /// Requests, events or connections.
    pub(super) operations: u64,
    /// Seconds within which 99 of 100 operations were done.
    pub(super) p99_seconds: Option<f64>,
    /// Bytes of memory that the proxy has more than before the load; measured for idle connections only.
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
