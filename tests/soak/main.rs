//! Days in minutes: clients of many kinds behind one watchtap, a real API server in the middle of churn, and something that breaks every
//! few seconds, chosen by chance from a seed that is printed.
//!
//! On either side of watchtap lies a hop of the test's own that ends TLS, so that every byte is compared as it comes
//! ([`observer_tests::ComparedHops`]), and beside each a TCP hop that breaks connections.

mod churn;
mod fault;
mod figures;
mod repeated;
mod rough_clients;
mod soak;
mod testbed;
