//! Numbers, and their words for people.

mod amount;
mod words;

pub use amount::Amount;
pub use words::{bytes, count, counted, counted_as, length, microseconds};
