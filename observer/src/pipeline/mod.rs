//! The observing thread: it decodes the deliveries of the taps, and owns the [`observer_core::observer::Observer`].
//!
//! It shares only the intake's queue with the threads that forward traffic. Even if it panics, traffic continues.
//!
//! Three modules hold traffic back, and they cannot be merged. Learning a server's profile takes up to 10 s. It must delay only the
//! clients of that server, so it holds back deliveries, before decoding (`awaiting_profile`). Finding a client's process takes up
//! to 2 s. It must not change the order of observations, so it holds back all observations, after decoding (`awaiting_process`). With `--audit-log`, they wait for the server's log as well
//! (`beside_logs`).

mod awaiting_process;
mod awaiting_profile;
mod beside_logs;
mod deadline;
mod decoding;
mod outputs;
mod series;
mod sink;
mod snapshots;
mod thread;
mod upstream;

#[cfg(test)]
mod tests;

pub use beside_logs::{BesideLogs, NotBeside};
pub use outputs::Outputs;
pub use series::{NoSeries, SeriesReader, SeriesSource};
pub use sink::EventSink;
pub use snapshots::{Publisher, SnapshotSource, Snapshots};
pub use thread::{Observing, Outcome};
pub use upstream::Upstream;
