//! watchtap: shows which layer of the Kubernetes API server answers each list and watch, and by which rule.
//!
//! This crate is the shell around [`observer_core`]. [`tap`] forwards or records traffic, and [`intake`] passes copies of it to
//! [`pipeline`], which feeds the core. [`capture`] records the core's input, and [`view`] shows its results. ARCHITECTURE.md has
//! the map.

pub mod api_server;
pub mod attach;
mod backoff;
mod bounded_file;
pub mod capture;
pub mod child;
pub mod cli;
pub mod client_process;
mod coverage;
pub mod credential;
mod dns_label;
mod error_chain;
mod exec_plugin;
pub mod forward_proxy;
mod injected_fault;
pub mod injection;
pub mod input_file;
pub mod intake;
mod invocation;
pub mod kubeconfig;
mod listening;
pub mod log_files;
pub mod memory_budget;
mod memory_limit;
pub mod metrics;
pub mod otlp;
pub mod pipeline;
pub mod pod_layout;
mod printable;
mod private_file;
pub mod probe_check_result;
mod process_group;
mod session;
mod signals;
pub mod tap;
mod terminal;
mod thread_priority;
pub mod verification;
pub mod view;
pub mod webhook;
