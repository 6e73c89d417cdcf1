//! Turns the records of the eBPF programs into feeds: one for each connection with an API server, with gaps for missing records.

mod both_ends;
mod connection;
mod connections;
mod followed;
mod header_recovery;
mod limits;
mod socket;
mod socket_ends;
#[cfg(test)]
mod tests;
mod transfer;

pub use connections::{Assembly, Recording};
pub use limits::Limits;
