//! Tests on a Kubernetes cluster of one node with real containers.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

mod end;
mod in_cluster;
mod pods;
mod restarts;
mod sidecar;
mod streams;
