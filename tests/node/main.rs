//! Tests on a Kubernetes cluster of one node with real containers.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

mod chart;
mod end;
mod in_cluster;
mod pods;
mod probe;
mod restarts;
mod sidecar;
mod streams;
