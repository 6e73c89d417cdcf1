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
//! - CBOR and YAML bodies, and answers in protobuf: objects are read from it, as `kubectl create deployment` sends them, but for fields that
//!   [`api::protobuf`] does not list (415 with the field's number); a client that accepts nothing but protobuf gets 406. Gzip, WebSocket
//!   watches; server-side apply (415) and managed fields.
//! - Validation and defaults of specifications: only names, namespaces, kinds and preconditions are checked.
//! - Subresources but `status` and `scale`: no logs, exec, eviction, binding, tokens; a 404 says so.
//! - Admission, users, RBAC and access reviews (`kubectl auth`), priority and fairness, audit logs, tracing: one token may do everything.
//! - Controllers: no pod runs. Only a namespace takes its objects with it at once, and in `watchtap demo` one of the clients says of each
//!   deployment that it is rolled out.
//! - Graceful deletion of pods, owner references and garbage collection, leases that expire events.
//! - Creation by PUT, which events and leases allow; warnings of unknown fields; `timeout` of lists.
//! - Time that a progress request takes: a consistent read waits for nothing while the cache's feed works.
//! - Indexes of the cache, so that every list is counted with an empty index; histograms; the consistency checker.
//! - The rare event that arrives while a list is sent: each answer is made under one lock.

pub mod api;
pub mod story;

mod cache;
mod cast;
mod client_go;
mod clock;
mod cluster;
mod config;
mod counters;
mod faults;
mod handle;
mod identity;
mod options;
mod periodic;
mod read;
mod refusal;
mod script;
mod select;
mod serve;
mod server;
mod storage;
mod store;
mod token;
mod watchers;
mod write;

pub use cast::furnish;
pub use config::DemoConfig;
pub use faults::FaultAnswer;
pub use handle::DemoHandle;
pub use script::{Script, ScriptError, reference};
pub use server::{DemoError, DemoServer};
