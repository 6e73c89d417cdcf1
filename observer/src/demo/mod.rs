//! The embedded demo cluster: an API server that lives in this process, for people and tests that have none.
//!
//! It serves lists, gets, watches and writes over HTTP/2 and HTTP/1.1 on loopback, by the rules of kube-apiserver 1.34 with default
//! feature gates: an in-memory store with one revision, history and compaction, and a watch cache of its own for each resource. It uses
//! neither the verdicts nor the routing rules of the core †: a demo built on our own verdicts would confirm itself. What it answers is
//! compared with a real API server in `tests/cluster/demo_parity.rs`.
//!
//! What it leaves out, so that nobody looks for it:
//!
//! - Of the resources, all but those of [`api::resources`]; custom resources, aggregated APIs.
//! - Protobuf, CBOR and YAML bodies: a client that sends protobuf, as `kubectl create deployment` does, gets 415, and one that accepts
//!   nothing else 406; `kubectl create -f` and `apply -f` send JSON. Gzip, WebSocket watches; server-side apply and managed fields.
//! - Validation and defaults of specifications: only names, namespaces, kinds and preconditions are checked.
//! - Subresources but `status`: no scale, logs, exec, eviction, binding.
//! - Admission, users and RBAC, priority and fairness, audit logs, tracing: one token may do everything.
//! - Controllers: nothing becomes ready, no pod runs. Only a namespace takes its objects with it at once.
//! - Graceful deletion of pods, owner references and garbage collection, leases that expire events.
//! - Creation by PUT, which events and leases allow; warnings of unknown fields; `timeout` of lists.
//! - Time that a progress request takes: a consistent read waits for nothing while the cache's feed works.
//! - Indexes of the cache, so that every list is counted with an empty index; histograms; the consistency checker.
//! - The rare event that arrives while a list is sent: each answer is made under one lock.

pub mod api;
pub mod company;
pub mod story;

mod cache;
mod clock;
mod cluster;
mod config;
mod counters;
mod faults;
mod handle;
mod options;
mod periodic;
mod read;
mod refusal;
mod select;
mod serve;
mod server;
mod storage;
mod store;
mod token;
mod watchers;
mod write;

pub use config::DemoConfig;
pub use faults::FaultAnswer;
pub use handle::DemoHandle;
pub use server::{DemoError, DemoServer};
