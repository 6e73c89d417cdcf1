//! Tests of the HTTP/2 decoder.

mod announced;
mod conversation;
mod flow;
mod gaps;
mod malformed;
mod messages;
mod middle;
mod properties;
mod transcript;
mod walker;
mod wire;
