//! The observing half: one thread that decodes what the taps deliver and owns the [`observer_core::observer::Observer`].
//!
//! It shares only the intake's queue with the forwarding half. Even if it panics, traffic continues.

mod deadline;
mod decoding;
mod held;
mod latest;
mod outputs;
mod sink;
mod thread;
mod upstream;
mod waiting;

#[cfg(test)]
mod tests;

pub use latest::{Latest, Publisher};
pub use outputs::Outputs;
pub use sink::EventSink;
pub use thread::{Observing, Outcome};
pub use upstream::Upstream;
