//! Storms: simultaneous relists of many reflectors, reported as one event.

mod cost;
mod lasting;
mod limits;
mod owner;
mod record;
mod trigger;

pub use limits::StormLimits;
pub use owner::{Storms, Told};
pub use record::{StormId, StormKind, StormMember, StormRecord};
pub use trigger::Trigger;
