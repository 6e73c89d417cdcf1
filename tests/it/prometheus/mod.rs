//! Tests with programs of Prometheus.

mod rules;
