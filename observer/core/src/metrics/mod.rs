//! Counters that a server exposes: a page of `/metrics`, read as a stream.
//!
//! The format is the text exposition format of Prometheus, version 0.0.4, or `OpenMetrics` 1.0. For this module, the latter differs
//! only in its last line and in exemplars. A page has no maximum length (large clusters serve 50 MB); one line is held at a time.

mod reader;
mod sample;

#[cfg(test)]
mod tests;

pub use reader::{MetricsReader, Unread};
pub use sample::Sample;
