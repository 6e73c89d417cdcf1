//! WebSocket frames (RFC 6455 §5), read passively: one direction's bytes in, the payload of its messages out.
//!
//! Neither text nor compression is examined: checking UTF-8 is up to the receiver, and kube-apiserver agrees to no extension
//! (golang.org/x/net `websocket/hybi.go`, v0.47).

mod header;
mod payload;
mod reader;
#[cfg(test)]
mod tests;

pub use reader::{Part, WebSocket};
