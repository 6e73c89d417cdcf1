//! `--otlp`: log records, metrics and spans, as a receiver gets them.

mod delivery;
mod metrics;
mod records;
mod translation;
