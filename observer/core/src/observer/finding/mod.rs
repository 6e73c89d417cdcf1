//! What somebody should change, and how: read out of what is known at one moment.

mod advice;
mod exposure;
mod found;
mod kind;

pub use exposure::{Exposed, Exposure};
pub use found::Finding;
pub use kind::FindingKind;

pub(super) use found::find;
