//! Holding verdicts against a live server's own counters: what to ask, what the counters then say was done, and whether the rules had said
//! so.
//!
//! A [`Shape`] is one way to ask for the objects of a [`Target`]; all together they reach every rule that reads alone can reach on a server
//! whose watch caches are ready. A row asks it once between two readings of the [`Counters`], and [`measure`] tells from the difference which
//! layer answered: only what one request alone can have moved is believed, everything else is [`Measured::Noise`]. [`judge`] compares.

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

pub use answer::Answer;
pub use counters::{Counters, MetricsPage};
pub use judgement::{Attempt, Judgement, agrees, judge};
pub use measured::{Measured, measure};
pub use prediction::Prediction;
pub use row::{Row, Tally};
pub use shape::{SHAPES, Shape};
pub use target::{Known, Scope, Target};
