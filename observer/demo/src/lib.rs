//! The embedded demo cluster: an API server in the process of watchtap, for users and tests without a cluster.
//!
//! It serves lists, gets, watches and writes over HTTP/2 and HTTP/1.1 on loopback, by the rules of kube-apiserver 1.34 with default
//! feature gates. It has an in-memory store with one revision, history and compaction, and a watch cache for each resource. It uses
//! neither the verdicts nor the routing rules of the core (a house rule checks this): otherwise, the demo could only confirm
//! watchtap's verdicts. `tests/cluster/demo_parity.rs` compares its answers with a real API server's.
//!
//! It deliberately lacks:
//!
//! - Resources other than those of [`api::resources`] and those that clients define; aggregated APIs.
//! - Schemas: Tables, `kubectl explain`, validation, pruning and defaults of specifications, also with `fieldValidation=Strict`. Only
//!   names, namespaces, kinds and preconditions are checked. A strategic merge patch replaces a list, unless it has `$setElementOrder` for it, see [`api::patch`].
//! - Of custom resources: conversion webhooks, the subresource `scale`, selectable fields, and definitions in protobuf (415).
//! - CBOR and YAML bodies, and answers in protobuf; a client that accepts only protobuf gets 406. Protobuf bodies are read, such as
//!   those of `kubectl create deployment`, except fields that [`api::protobuf`] does not list (415 with the field's number).
//! - Gzip, WebSocket watches; conflicts of server-side apply, and managed fields of other writes.
//! - Subresources other than `status` and `scale`: logs, exec, eviction, binding and tokens get a 404.
//! - Admission, users, RBAC and access reviews (`kubectl auth`), priority and fairness, audit logs, tracing: one token may do
//!   everything.
//! - Controllers: no pod runs. Only the deletion of a namespace takes effect, and deletes its objects at once. In `watchtap demo`,
//!   one of the clients marks each deployment as rolled out.
//! - Graceful deletion of pods, owner references and garbage collection, leases that expire events.
//! - Creation by PUT, which events and leases allow; warnings of unknown fields; `timeout` of lists.
//! - The duration of a progress request: a consistent read does not wait, unless the caches are stalled.
//! - Indexes of the cache, so every list is counted with an empty index label; histograms; the consistency checker.
//! - Events that occur while a list is read: each answer is made under one lock.

pub mod api;
pub mod story;

mod cache;
mod cast;
mod client_go;
mod clock;
mod cluster;
mod config;
mod counters;
mod custom;
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

pub use cast::{create_objects, populate};
pub use config::DemoConfig;
pub use faults::FaultAnswer;
pub use handle::DemoHandle;
pub use script::{Script, ScriptError, reference};
pub use server::{DemoError, DemoServer};
