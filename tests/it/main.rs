//! Tests with real sockets.
//!
//! The modules are marked as tests so that their helper functions may unwrap, too.

#[cfg(test)]
mod attach;
#[cfg(test)]
mod audit_log;
#[cfg(test)]
mod bad_traffic;
#[cfg(test)]
mod canary;
#[cfg(test)]
mod capture_cli;
#[cfg(test)]
mod capture_killed;
#[cfg(test)]
mod capture_memory;
#[cfg(test)]
mod compatibility;
#[cfg(test)]
mod contexts;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod descriptors;
#[cfg(test)]
mod dialogue;
#[cfg(test)]
mod exec_budget;
#[cfg(test)]
mod exec_cli;
#[cfg(test)]
mod exec_demo;
#[cfg(test)]
mod exec_forward_proxy;
#[cfg(test)]
mod exec_page;
#[cfg(test)]
mod exec_plugins;
#[cfg(test)]
mod explain_cli;
#[cfg(test)]
mod explain_lines;
#[cfg(test)]
mod h2_frames;
#[cfg(test)]
mod hop;
#[cfg(test)]
mod hpack;
#[cfg(test)]
mod idle_watches;
#[cfg(test)]
mod in_cluster;
#[cfg(test)]
mod in_cluster_faults;
#[cfg(test)]
mod in_cluster_ipv6;
#[cfg(test)]
mod inject_cli;
#[cfg(test)]
mod kubectl_plugin;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod memory_limit;
#[cfg(test)]
mod metrics;
#[cfg(test)]
mod otlp;
#[cfg(test)]
mod page_cli;
#[cfg(test)]
mod pods;
#[cfg(test)]
mod private_files;
#[cfg(test)]
mod prometheus;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod read_follow;
#[cfg(test)]
mod read_logs;
#[cfg(test)]
mod run_cli;
#[cfg(test)]
mod small_input;
#[cfg(test)]
mod status_cli;
#[cfg(test)]
mod transparency;
#[cfg(test)]
mod upstream;
#[cfg(test)]
mod verify_cli;
#[cfg(test)]
mod webhook;
