//! Harness of the tests: a real etcd and a real kube-apiserver on this machine, and what one asks them.
//!
//! [`Cluster`] is the way in; everything else is what its methods take and return. The servers come from
//! `KUBEBUILDER_ASSETS` or are built with Go (see [`binaries`]); they die with the test process, however it ends.

mod api_server;
mod audit;
pub mod binaries;
mod bounded;
mod client;
mod cluster;
mod config_map_controller;
mod credentials;
mod digest;
mod etcd;
mod etcd_hop;
mod exec_session;
mod field_lines;
mod folders;
mod go_build;
mod go_client;
mod go_hpack;
mod held_exec;
mod hop;
mod kubeconfig;
mod kubectl;
mod list_counters;
mod loopback_tls;
mod metrics;
mod ports;
mod process;
mod process_usage;
mod programs;
mod read_counters;
mod run_folder;
mod run_session;
pub mod scripted_forward_proxy;
mod scripted_upstream;
mod terminal;
mod token_endpoint;
mod watchtap;

pub use binaries::{EtcdRelease, Minor};
pub use bounded::{Lines, output_within, wait_within};
pub use client::{Client, Response};
pub use cluster::{Cluster, Options};
pub use config_map_controller::{ConfigMapController, client as kube_client};
pub use digest::{Digest, Hasher};
pub use exec_session::{ExecSession, Finished};
pub use field_lines::field_line;
pub use folders::accuracy_folder;
pub use go_client::go_client;
pub use go_hpack::{GoBlock, go_blocks};
pub use held_exec::HeldExec;
pub use hop::{End, Flow, Hop, Passed};
pub use kubectl::{kubectl, kubectl_minors, kubectl_of_minor};
pub use list_counters::ListCounters;
pub use loopback_tls::{ClientStream, ServerStream, connect, end_sending};
pub use metrics::Metrics;
pub use ports::Port;
pub use process::Signal;
pub use process_usage::ProcessUsage;
pub use read_counters::ReadCounters;
pub use run_session::RunSession;
pub use scripted_upstream::ScriptedUpstream;
pub use terminal::Terminal;
pub use token_endpoint::TokenEndpoint;
pub use watchtap::watchtap;
