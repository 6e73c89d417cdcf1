//! Checks the rules against a live server: chooses a resource, sends requests, and reads the server's counters in between.
//!
//! It only reads, one request after another on one connection. So behind a load balancer, one server answers all requests of a row.
//! [`observer_core::verification`] chooses the requests and judges the answers.

mod candidates;
mod failure;
mod log_tail;
mod oracles;
mod server;

mod choice;
mod plan;
mod result;
mod run;

#[cfg(test)]
mod tests;

pub use failure::VerifyError;
pub use log_tail::LogTail;
pub use oracles::Oracles;
pub use plan::{Plan, Progress};
pub use result::Verification;
pub use run::{Request, verify};
pub use server::{Connect, Server};
