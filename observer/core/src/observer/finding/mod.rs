//! What somebody should change, and how: read out of what is known at one moment.

mod advice;
mod exposure;
mod found;
mod kind;
mod of_reflector;
mod problem;

pub use exposure::{Exposed, Exposure};
pub use found::Finding;
pub use kind::FindingKind;
pub use problem::Problem;

pub(super) use found::{Known, find};
pub(super) use problem::problems;
