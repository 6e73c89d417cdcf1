//! Tests of the Observer as a whole.

mod comparison;
mod late;
mod script;
mod unrecorded;
mod versions;
