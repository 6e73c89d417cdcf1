//! Tests of the HTTP/2 decoder.

mod conversation;
mod flow;
mod gaps;
mod malformed;
mod messages;
mod middle;
mod properties;
mod told;
mod transcript;
mod walker;
mod wire;
