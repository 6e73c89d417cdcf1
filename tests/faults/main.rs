//! What clients do when something breaks, with watchtap in between and without: the same.
//!
//! One run of a fault carries clients of every kind, each of them twice at the same time: one speaks to the API server directly, one through
//! watchtap. On each way lies a TCP hop of the test's own, so that both meet the same condition. What counts is what the API server
//! accepted from each, in the form of [`observer_tests::RequestForms`].

mod fault;
mod faults;
mod residue;
mod run;
mod testbed;
