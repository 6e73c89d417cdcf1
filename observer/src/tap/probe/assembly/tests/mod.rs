//! Tests of the assembly: the records that the programs make, and the resulting events in the intake.

mod both_ends;
mod fields;
mod records;
mod stage;
