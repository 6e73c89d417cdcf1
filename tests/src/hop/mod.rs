//! TLS hops of the test's own: what they pass on they measure.
//!
//! One on each side of watchtap tells whether the plaintext that one of them put in is the plaintext that the other one got: afterwards, by
//! what each [`Hop`] counted and hashed, or all the time, by [`ComparedHops`].

mod compared;
mod connection;
mod flow;
mod listener;
mod passage;

pub use compared::{ComparedHops, Listening, Tally};
pub use flow::{End, Flow};
pub use listener::{Hop, Passed};
pub use passage::Carried;
