//! watchtap as the sidecar of real pods, as `watchtap inject` makes them.

mod attach;
mod clients;
mod guide;
mod job;
mod kubectl;
mod stage;
