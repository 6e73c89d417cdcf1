//! `--otlp`: log records and spans, as a receiver gets them.

mod delivery;
mod records;
