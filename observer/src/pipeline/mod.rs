//! The observing half: one thread that decodes what the taps deliver and owns the [`observer_core::observer::Observer`].
//!
//! It shares only the intake's queue with the forwarding half. Even if it panics, traffic continues.
//!
//! Two queues hold back, and they cannot be one. A server's profile takes up to 10 s and must delay only that server's clients,
//! before decoding (`awaiting_profile`). A client's process takes up to 2 s and must not change the order of observations, so it
//! delays all of them, decoded (`awaiting_process`).

mod awaiting_process;
mod awaiting_profile;
mod deadline;
mod decoding;
mod outputs;
mod sink;
mod snapshots;
mod thread;
mod upstream;

#[cfg(test)]
mod tests;

pub use outputs::Outputs;
pub use sink::EventSink;
pub use snapshots::{Publisher, Snapshots};
pub use thread::{Observing, Outcome};
pub use upstream::Upstream;
