//! Holding the rules against a live server: which resource to ask for, asking, and reading the server's counters in between.
//!
//! Reads only, one after the other on one connection, so that behind a load balancer one server answers all of a row. What is asked and what
//! comes of it is decided in [`observer_core::verification`].

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
