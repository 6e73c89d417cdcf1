//! Records as the programs make them, and the resulting offers to the intake.

mod both_ends;
mod fields;
mod records;
mod stage;
