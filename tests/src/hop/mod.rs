//! A TLS hop of the test's own: what it passes on it counts and hashes.
//!
//! One on each side of watchtap tells whether the plaintext that one of them put in is the plaintext that the other one got.

mod connection;
mod flow;
mod listener;

pub use flow::{End, Flow};
pub use listener::{Hop, Passed};
