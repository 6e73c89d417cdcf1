//! Checks verdicts against a live server's own counters: which requests to make, which layer the counters show, and whether the
//! rules predicted it.
//!
//! A [`Shape`] is one way to ask for the objects of a [`Target`]. Together the shapes reach every rule that reads alone can reach
//! on a server whose watch caches are ready. Each attempt of a row makes the request once, between two readings of the
//! [`Counters`]. From the difference, [`measure`] derives which layer answered. It accepts only changes that one request alone can
//! cause; everything else is [`Measured::Noise`]. [`judge`] compares the result with the prediction.

mod target;

mod shape;

mod counters;
mod prediction;

mod answer;
mod measured;

mod judgement;
mod row;

#[cfg(test)]
mod tests;

pub use answer::ObservedAnswer;
pub use counters::{Counters, MetricsPage};
pub use judgement::{Attempt, Judgement, agrees, judge};
pub use measured::{Measured, measure};
pub use prediction::Prediction;
pub use row::{Row, Tally};
pub use shape::{SHAPES, Shape};
pub use target::{Known, Scope, Target};
