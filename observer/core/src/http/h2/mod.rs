//! HTTP/2 (RFC 9113), decoded passively: both directions of one connection.
//!
//! The decoder answers nothing. An error that an endpoint would treat as a stream error ends the message. One that it would treat
//! as a connection error ends the decoding of that direction.

mod decoder;
mod flow;
mod frame;
mod framing;
mod gather;
mod head;
pub mod hpack;
mod payload;
mod per_direction;
mod recovery;
mod search;
mod settings;
mod side;
mod stream;
mod streams;
pub(super) mod walker;

pub(super) use decoder::Decoder;

#[cfg(test)]
mod tests;
