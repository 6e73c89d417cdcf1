//! Compares the behaviour of clients during faults, with and without watchtap: it must be the same.
//!
//! One run of a fault has clients of every kind, each twice at the same time: one connects to the API server directly, one through
//! watchtap. Each route has its own TCP hop, so both meet the same condition. The tests compare the requests that the API server
//! accepted from each, as [`observer_tests::RequestForms`].

mod fault;
mod faults;
mod residue;
mod run;
mod testbed;
