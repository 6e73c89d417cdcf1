//! Findings: diagnoses with evidence and advice, derived from the state at one moment.

mod advice;
mod exposure;
mod find;
mod found;
mod of_clients;
mod of_lists;
mod of_reflector;
mod of_storms;
mod problem;
mod unit;

pub use advice::{advice_by_cause, advice_on_relists};
pub use exposure::{Exposed, Exposure};
pub use found::Finding;
pub use problem::Problem;
pub use unit::AmountUnit;

pub(super) use find::{Known, MAX_FINDINGS, find};
pub(super) use found::is_muted;
pub(super) use problem::problems;
