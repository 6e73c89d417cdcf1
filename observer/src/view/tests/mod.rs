//! Tests of the reports, lines, comparisons and notes as people and programs get them.

mod comparisons;
mod coverage;
mod faults;
mod markdown;
mod notes;
mod screens;
