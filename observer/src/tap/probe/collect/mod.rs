//! Collects the records of the programs, and passes them on in order of time.

mod changes;
mod ending;
mod in_order;
mod left_files;
mod probing;
mod telling;
mod wakes;

pub(super) use in_order::InOrder;
pub(super) use probing::Probing;
pub(super) use telling::Telling;
pub(super) use wakes::Wakes;
