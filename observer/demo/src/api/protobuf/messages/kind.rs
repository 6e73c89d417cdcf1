//! The message for the body of a request.

use super::core::{CONFIG_MAP, EVENT, LEASE, NAMESPACE, SECRET, SERVICE_ACCOUNT};
use super::metadata::DELETE_OPTIONS;
use super::node::NODE;
use super::pod::{POD, POD_TEMPLATE};
use super::service::SERVICE;
use super::workload::{DAEMON_SET, DEPLOYMENT, JOB, REPLICA_SET, SCALE, STATEFUL_SET};
use crate::api::Resource;
use crate::api::protobuf::shape::Message;

/// The expected contents of a body.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// An object of a resource's kind.
    Object(&'static Resource),
    /// The options of a deletion.
    DeleteOptions,
}

/// The message of a body; `None` for a kind that the demo does not read from protobuf.
pub(in crate::api::protobuf) fn of(body: Body) -> Option<&'static Message> {
    let Body::Object(resource) = body else { return Some(&DELETE_OPTIONS) };
    BY_KIND.iter().find(|message| message.name == resource.kind).copied()
}

pub(in crate::api::protobuf) static BY_KIND: &[&Message] = &[
    &CONFIG_MAP,
    &DAEMON_SET,
    &DEPLOYMENT,
    &EVENT,
    &JOB,
    &LEASE,
    &NAMESPACE,
    &NODE,
    &POD,
    &POD_TEMPLATE,
    &REPLICA_SET,
    &SCALE,
    &SECRET,
    &SERVICE,
    &SERVICE_ACCOUNT,
    &STATEFUL_SET,
];
