//! The numbers of all metrics at one moment: those that `series` has counted, and those that follow from the present state.

mod losses;
mod made;
mod reflectors;
mod servers;
mod storms;
