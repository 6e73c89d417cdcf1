//! `--otlp`: log records, metrics and spans, as a receiver gets them.

mod collector;
mod delivery;
mod event_fields;
mod metrics;
mod records;
mod translation;
