//! The demo's clients, those of kube-rs and our own, and the stage that starts and ends them.

mod changes;
mod kube_clients;
mod populate;
mod rollout;
mod slow_reader;
mod stage;

pub use populate::populate;
pub(super) use stage::Stage;
