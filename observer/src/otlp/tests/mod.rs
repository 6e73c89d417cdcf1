//! Tests with scripts of traffic.

mod metrics;
mod spans;
