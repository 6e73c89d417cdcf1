//! Metrics for Prometheus, over HTTP. Each scrape asks the observing thread for the series of the core; nothing is made in between.
//!
//! The text is written here and not by prometheus-client 0.25, which writes `OpenMetrics` only. In the older text format, Prometheus
//! and promtool would take its counters for values of an unknown type.

mod accepted;
mod answering;
mod answers;
mod connections;
mod exposition;
mod page;
mod process;
mod reader;
mod scrapes;
mod server;
pub(crate) mod webhook_families;

#[cfg(test)]
mod documentation;
#[cfg(test)]
mod tests;

pub(crate) use answering::Answering;
pub(crate) use answers::{metrics_page, refusal, text};
pub(crate) use exposition::{Exposition, FamilyWriter, Head, Number};
pub(crate) use process::{numbers as process_numbers, started_us as process_started_us};
pub use reader::MetricsReader;
pub use server::MetricsServer;
pub(crate) use server::{is_loopback, serve};
