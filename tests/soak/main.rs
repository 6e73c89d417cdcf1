//! Simulates days of operation in minutes: many kinds of clients share one watchtap, a real API server has continuous churn, and a
//! fault occurs every few seconds. The faults are random; the run prints their seed.
//!
//! A hop on each side of watchtap terminates TLS, so every byte is compared on arrival ([`observer_tests::ComparedHops`]). A TCP
//! hop next to each of them can break connections.

mod churn;
mod fault;
mod figures;
mod repeated;
mod rough_clients;
mod soak;
mod testbed;
