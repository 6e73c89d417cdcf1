//! The observing half: one thread that decodes what the taps saw and owns the [`observer_core::observer::Observer`].
//!
//! It shares nothing with the forwarding half but the intake's queue. Whatever happens here, a panic included, the traffic goes on.

mod deadline;
mod decoding;
mod held;
mod latest;
mod outputs;
mod thread;
mod upstream;
mod waiting;

#[cfg(test)]
mod tests;

pub use latest::{Latest, Publisher};
pub use outputs::Outputs;
pub use thread::{Observing, Outcome};
pub use upstream::Upstream;
