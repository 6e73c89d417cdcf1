//! A hop in front of an API server that terminates TLS and speaks HTTP. It answers some requests itself, as the test scripts it.
//!
//! It passes all other requests to the real server, on one HTTP/2 connection for each client connection.

mod connection;
mod listener;
mod script;
mod watch_body;

pub use listener::HttpHop;
pub use script::{Act, Of, Scripted, ScriptedReply};
