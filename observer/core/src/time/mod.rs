//! Points in time, durations and rates.

mod latency;
mod microseconds;
mod per_second;
mod rate;
mod timestamp;

pub(crate) use latency::Latency;
pub use microseconds::microseconds;
pub use per_second::PerSecond;
pub use rate::Rate;
pub use timestamp::Timestamp;
pub(crate) use timestamp::{recorded, recorded_beside};
