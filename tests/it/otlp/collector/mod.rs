//! An OpenTelemetry Collector receives the records of a demo, and writes them to a file.

mod demo;
mod links;
mod metrics;
mod outages;
mod records;
mod story;
