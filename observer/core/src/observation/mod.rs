//! What a tap's decoder says: the one vocabulary between taps, captures and the [`crate::observer::Observer`].
//!
//! A [`ConnectionDecoder`] turns the bytes of one connection into [`Observation`]s; there is one per connection, it may be lost
//! without harm to the others, and it knows nothing of server versions. An observation holds no secret and no object body, so it may be
//! stored, sent and shown.

mod blockage;
mod connection;
mod probe;
mod request;
mod stream;
mod upgrade;
mod version_document;
mod vocabulary;

#[cfg(test)]
mod tests;

pub use blockage::Blockage;
pub use connection::ConnectionDecoder;
pub use probe::ProbeMissed;
pub use request::{RequestLine, ResponseLine};
pub use vocabulary::{
    Body, BodyNotRead, ConnectionEnd, ConnectionId, EndManner, ExchangeEnd, ExchangeId, ListenerState, Observation, Plaintext,
    Process, UpstreamName, WORDS, What,
};
