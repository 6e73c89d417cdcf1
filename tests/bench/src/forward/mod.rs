//! `forward`: the cost of a proxy that terminates TLS on both sides, for watchtap, nginx, haproxy and stunnel.
//!
//! Each kind of traffic is measured twice: with Rust libraries in client and server, and with Go's. The Rust client runs in this
//! process. All others are separate processes, so that the kernel counts their CPU time and memory separately. Neither client nor
//! server uses code of watchtap. Both speak TLS 1.3 with AES-128-GCM only, so every way has the same cipher.

mod accepting;
mod client;
mod command;
mod go_client;
mod go_program;
mod latency;
mod load;
mod metrics;
mod peer;
mod report;
mod running;
mod sample;
mod scenario;
mod stack;
mod tls;
mod unobserved;
mod upstream;
mod watches;
mod way;

pub(crate) use accepting::accept_until_end_of_input;
pub(crate) use command::{Args, execute};
pub(crate) use metrics::{Args as MetricsArgs, execute as measure_metrics};
pub(crate) use scenario::Http;
pub(crate) use tls::{client as tls_client, server as tls_server};
pub(crate) use unobserved::{Args as UnobservedArgs, execute as serve_unobserved};
pub(crate) use upstream::{Args as UpstreamArgs, execute as serve_upstream};
pub(crate) use watches::{Args as WatchesArgs, execute as measure_watches};
