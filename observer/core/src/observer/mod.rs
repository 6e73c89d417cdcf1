//! The one owner of all that is known: observations in, [`Event`]s and a plain [`Snapshot`] out.
//!
//! Everything is bounded ([`Limits`]), and what fell out is counted in [`Missed`]. Views read events and snapshots and nothing else.

mod alike;
mod comparison;
mod ending;
mod event;
mod history;
mod latency;
mod limits;
mod missed;
mod owner;
mod record;
mod shape;
mod snapshot;
mod tables;
mod upstreams;

#[cfg(test)]
mod tests;

pub use comparison::{Change, ComparedRun, Comparison, ComparisonRow, Layer, Side};
pub use event::Event;
pub use limits::Limits;
pub use missed::{Missed, Unrecorded};
pub use owner::Observer;
pub use record::{Client, RequestRecord, VerdictRecord};
pub use shape::{Scope, Shape};
pub use snapshot::{ListRow, OtherRow, Snapshot, Totals, WatchRow};
pub use upstreams::UpstreamRecord;
