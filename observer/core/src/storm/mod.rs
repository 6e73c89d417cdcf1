//! Storms: many reflectors that list again at once, told as one thing.

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
