//! Logs of API servers and of etcd, as operators already have them.
//!
//! A line goes through three stages. [`Unwrapper`] strips what a cloud or a container runtime has wrapped around it. A reader of one
//! form makes a typed record of it: [`AuditEvent`], [`EtcdRequest`]. [`LogReplay`] joins the records of each request, and returns
//! the observations that a tap would have made, as far as the log has them. The [`crate::observer::Observer`] takes these as any
//! others, so there is one copy of each rule.

mod audit;
mod envelope;
mod etcd;
mod extent;
mod go_duration;
mod replay;
mod text;
mod window;

#[cfg(test)]
mod replay_tests;
#[cfg(test)]
mod tests;

pub use audit::{AuditEvent, AuditLevel, AuditStage, MAX_LINE};
pub use envelope::{Envelope, Unwrapper};
pub use etcd::{EtcdRequest, RangeRead};
pub use extent::LogExtent;
pub use replay::LogReplay;
