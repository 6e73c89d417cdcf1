//! Tests of the events and rows about reflectors that scripts of wire traffic give.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

mod ages;
mod at_shutdown;
mod attribution;
mod bounds;
mod causes;
mod client_findings;
mod clients;
mod comparisons;
mod expired;
mod faults;
mod findings;
mod futile_watches;
mod gaps;
mod given_up;
mod logged;
mod odd;
mod pace;
mod pages;
mod problems;
mod propagation;
mod refused_lists;
mod refused_requests;
mod restarts;
mod rollbacks;
mod script;
mod silent_watches;
mod stalls;
mod state_by_watch;
mod storms;
mod streaming;
mod streaming_refused;
mod watch_errors;
mod watches;
