//! The demo's clients: those of kube-rs, those of our own, and who brings them on and off the stage.

mod changes;
mod furnish;
mod kube_clients;
mod rollout;
mod slow_reader;
mod stage;

pub use furnish::furnish;
pub(super) use stage::Stage;
