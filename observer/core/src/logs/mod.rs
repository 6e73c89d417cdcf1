//! Lines that servers write about single requests: the audit log of kube-apiserver, and etcd's own log.
//!
//! One line in, what it says out; a line that says nothing here, or is not understood, is `None`. Nothing is kept between lines.

mod audit;
mod etcd;

#[cfg(test)]
mod tests;

pub use audit::AuditEvent;
pub use etcd::{EtcdRequest, RangeRead};
