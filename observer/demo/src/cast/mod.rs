//! The demo's clients, with kube-rs or with the demo's own reflectors, and the stage, which starts and ends them.

mod changes;
mod kube_clients;
mod objects;
mod populate;
mod rollout;
mod slow_reader;
mod stage;

pub use objects::create_objects;
pub use populate::populate;
pub(super) use stage::Stage;
