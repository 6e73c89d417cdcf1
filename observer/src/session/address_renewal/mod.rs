//! Keeps the addresses of a probe's API servers up to date: looks names up again, and reads the EndpointSlice of a pod's cluster.

mod known_addresses;
mod listeners;
mod pace;
mod renewal;
mod resolver;
#[cfg(test)]
mod tests;

pub(super) use known_addresses::KnownAddresses;
pub(super) use listeners::Listeners;
pub(super) use renewal::{Renewal, Renewed};
pub(super) use resolver::{Resolver, SystemResolver};
