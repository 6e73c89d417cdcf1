//! Builds each exchange (a request and its response, or a watch) from observations.

mod client;
mod counted;
pub mod ending;
mod lifecycle;
mod memory;
mod shape;
mod stall;
mod watch;

pub use client::{Client, ClientId};
pub(crate) use counted::{EVENT_TYPES, Place, RequestLabels, ValueNumber};
pub use lifecycle::Exchange;
pub(crate) use memory::{
    MemoryUse, of_alternatives, of_identity, of_length, of_options, of_process, of_profile, of_reads, of_reason, of_structure,
    of_texts, of_traceparent, of_watch,
};
pub use shape::{Scope, Shape};
pub use stall::{Stall, StallRecord};
pub use watch::WatchStream;
