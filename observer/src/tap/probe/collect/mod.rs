//! Collects the records of the programs, and passes them on in order of time.

mod changes;
mod collector;
mod detached_files;
mod in_order;
mod reporter;
mod shutdown;
mod wakeups;

pub(super) use collector::Collector;
pub(super) use in_order::InOrder;
pub(super) use reporter::Reporter;
pub(super) use wakeups::Wakeups;
