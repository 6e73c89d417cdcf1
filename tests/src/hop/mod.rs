//! TLS hops of the tests, which measure all traffic that they forward.
//!
//! With one hop on each side of watchtap, a test can check that the plaintext passes unchanged. It compares the counts and hashes
//! of two [`Hop`]s at the end, or uses [`ComparedHops`] for a continuous comparison.

mod compared;
mod connection;
mod flow;
mod listener;
mod passage;

pub use compared::{ComparedHops, Listening, Tally};
pub use flow::{End, Flow};
pub use listener::{Hop, Passed};
pub use passage::Carried;
