//! The proxy tap: terminates TLS on both sides and copies the plaintext bytes verbatim.
//!
//! It does not implement HTTP, so it can neither change a request nor invent a response. Each difference from a direct connection
//! is documented where it arises: [`Proxy`] (when clients are refused), `splice` (how ends are passed on), `socket` (keep-alive).

mod client_stall;
mod close_signal;
mod config;
mod connect_request;
mod connection_tls;
mod counters;
mod descriptors;
mod error;
mod establish;
mod flow;
mod gate;
mod greeting;
mod hello;
mod hellos;
mod listener;
mod port;
mod probe;
mod renewal;
mod serve;
mod serve_connection;
mod server_configs;
mod shared;
mod side;
mod socket;
mod splice;
mod tee;
mod unforwardable;

pub use crate::intake::ListenerState;
pub use config::{Admission, Entrance, ProxyConfig};
pub use counters::ProxyCounts;
pub use descriptors::Descriptors;
pub use error::ProxyError;
pub use serve::{Proxy, ProxyHandle};
