//! Points in time, and what happens in a span of it.

mod microseconds;
mod rate;
mod timestamp;

pub use microseconds::microseconds;
pub use rate::Rate;
pub use timestamp::Timestamp;
