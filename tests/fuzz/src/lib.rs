//! What must hold of the code of the core that reads strangers' bytes, whatever these are: one file per target, and what several use.
//!
//! A fuzz target gives it bytes that it made up, `tests/seeds` the ones in `tests/fuzz/seeds`. [`TARGETS`] names them all;
//! `docs/fuzzing.md` says what each asserts.

#[path = "../../bench/src/allocation.rs"]
mod allocation;

mod body;
mod facts;
mod repetition;
mod script;
mod tape;
mod told;

pub mod capture;
pub mod cbor;
pub mod gzip;
pub mod hpack;
pub mod http;
pub mod json;
pub mod logs;
pub mod metrics;
pub mod observer;
pub mod protobuf;
pub mod request;
pub mod websocket;

/// What checks one input; it panics where something does not hold.
pub type Check = fn(&[u8]);

/// Every target by its name, which its file in `fuzz_targets` and its folder of seeds have, too.
pub const TARGETS: &[(&str, Check)] = &[
    ("http1", http::check_http1),
    ("http2", http::check_http2),
    ("hpack", hpack::check),
    ("json", json::check),
    ("protobuf", protobuf::check),
    ("cbor", cbor::check),
    ("gzip", gzip::check),
    ("websocket", websocket::check),
    ("request", request::check),
    ("metrics", metrics::check),
    ("logs", logs::check),
    ("capture", capture::check),
    ("observer", observer::check),
];
