//! Lines that servers log about single requests: the audit log of kube-apiserver, and etcd's own log.
//!
//! Each line is parsed on its own, and no state is kept between lines. A line that is irrelevant here, or not understood, gives
//! `None`.

mod audit;
mod etcd;

#[cfg(test)]
mod tests;

pub use audit::AuditEvent;
pub use etcd::{EtcdRequest, RangeRead};
