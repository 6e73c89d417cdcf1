//! The demo's clients, those of kube-rs and our own, and the stage that starts and ends them.

mod changes;
mod furnish;
mod kube_clients;
mod rollout;
mod slow_reader;
mod stage;

pub use furnish::furnish;
pub(super) use stage::Stage;
