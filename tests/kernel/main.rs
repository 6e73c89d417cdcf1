//! Tests of the eBPF programs in this machine's kernel, with real processes.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

mod cgroups;
mod check;
mod clients;
mod closing;
mod cluster_streams;
mod command;
mod commanded_client;
mod event_streams;
mod fallbacks;
mod first_requests;
mod layers;
mod libraries;
mod lifetimes;
mod live;
mod loss;
mod losses;
mod moving_server;
mod older_connections;
mod pid_namespaces;
mod probe_output;
mod renamed_server;
mod selection;
mod server_process;
mod socket_ends;
mod stage;
mod stream_clients;
mod stream_stage;
mod unprobed_libraries;
mod unseen;
mod vm;
mod watchers;
