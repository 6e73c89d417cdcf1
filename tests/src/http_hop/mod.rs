//! A hop on the way to an API server that ends TLS and speaks HTTP, and answers some requests itself, as the test says.
//!
//! What it is not told to answer it passes on to the real server, on an HTTP/2 connection for each of a client's.

mod connection;
mod listener;
mod script;
mod watch_body;

pub use listener::HttpHop;
pub use script::{Act, Answer, Of, Scripted};
