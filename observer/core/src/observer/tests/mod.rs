//! Tests of the Observer as a whole.

mod comparison;
mod script;
mod unrecorded;
mod versions;
