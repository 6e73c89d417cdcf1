//! From the records of the programs to feeds: one for each connection with an API server, with holes where records lack.

mod followed;
mod held;
mod records;
mod sent_fields;
#[cfg(test)]
mod tests;

pub use records::{Assembly, ConnectionEnds, Limits, Whereabouts};
