//! Storms: simultaneous relists of many reflectors, reported as one event.

mod cost;
mod lasting;
mod limits;
mod record;
mod storms;
mod totals;
mod trigger;

pub use limits::StormLimits;
pub use record::{StormId, StormKind, StormMember, StormRecord};
pub use storms::{StormEvent, Storms};
pub(crate) use totals::{StormCost, StormTotals};
pub(crate) use trigger::FIX_CAUSES;
pub use trigger::Trigger;
