//! Records as the programs make them, and what the intake is offered for them.

mod both_ends;
mod fields;
mod records;
mod stage;
