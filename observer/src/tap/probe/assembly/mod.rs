//! Turns the programs' records into feeds: one for each connection with an API server, with gaps for missing records.

mod both_ends;
mod explained;
mod followed;
mod held;
mod place;
mod records;
mod sent_fields;
mod socket_ends;
#[cfg(test)]
mod tests;
mod transfer;
mod waiting;

pub use records::{Answer, Assembly, Limits};
