//! Tests that clients behave the same during faults with watchtap and without.
//!
//! One run of a fault has clients of every kind, each twice at the same time: one connects to the API server directly, one through
//! watchtap. Each route has its own TCP hop, so both have the same faults. The tests compare the requests that the API server
//! accepted from each, as [`observer_tests::RequestForms`].

mod fault;
mod faults;
mod residue;
mod run;
mod testbed;
