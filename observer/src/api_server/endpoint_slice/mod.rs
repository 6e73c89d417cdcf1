//! The EndpointSlice `kubernetes` in the namespace `default`: the addresses of a cluster's API servers themselves.
//!
//! A socket usually has the address of the cluster's Service. A network plugin may replace it by that of an API server when the client
//! connects (Cilium's socket load balancing).

mod document;
mod error;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::EndpointSliceReader;
#[cfg(test)]
pub(crate) use tests::{Reply, ScriptedServer};
