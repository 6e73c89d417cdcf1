//! Tests with scripts of traffic.

mod spans;
