//! watchtap as the sidecar of real pods, as `watchtap inject` makes them.

mod attach;
mod clients;
mod containers;
pub(crate) mod follower;
mod guide;
mod job;
mod kubectl;
mod outage;
pub(crate) mod stage;
