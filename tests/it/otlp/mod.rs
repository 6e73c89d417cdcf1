//! `--otlp`: log records, as a receiver gets them.

mod delivery;
mod records;
