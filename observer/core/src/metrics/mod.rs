//! What a server counts about itself: a page of `/metrics`, read as a stream.
//!
//! The text exposition format of Prometheus, version 0.0.4, and `OpenMetrics` 1.0, which differs where we look only in its last line and in
//! exemplars. A page is as long as it likes (large clusters serve 50 MB); one line is held at a time.

mod reader;
mod sample;

#[cfg(test)]
mod tests;

pub use reader::{MetricsReader, Unread};
pub use sample::Sample;
