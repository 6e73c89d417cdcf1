//! Metrics for Prometheus, over HTTP. Each scrape asks the observing thread for the series of the core; nothing is made in between.
//!
//! The text is written here and not by prometheus-client 0.25, which writes `OpenMetrics` only. In the older text format, Prometheus
//! and promtool would take its counters for values of an unknown type.

mod accepted;
mod answers;
mod connections;
mod exposition;
mod page;
mod process;
mod reader;
mod scrapes;
mod server;

#[cfg(test)]
mod documentation;
#[cfg(test)]
mod tests;

pub use reader::MetricsReader;
pub use server::MetricsServer;
