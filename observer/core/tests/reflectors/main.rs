//! What is said of reflectors, for scripts of what passes on the wire.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

mod attribution;
mod bounds;
mod causes;
mod clients;
mod clients_more;
mod findings;
mod lists;
mod lists_more;
mod odd;
mod odd_more;
mod pace;
mod propagation;
mod script;
mod stalls;
mod storms;
mod streaming;
mod streaming_more;
mod watches;
mod watches_errors;
mod watches_more;
