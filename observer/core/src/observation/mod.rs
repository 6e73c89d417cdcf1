//! Observations: the one vocabulary of taps, captures and the [`crate::observer::Observer`].
//!
//! A [`ConnectionDecoder`] turns the bytes of one connection into [`Observation`]s. Each connection has its own decoder, so a
//! failure of one decoder does not affect other connections. Decoders do not depend on server versions. An observation holds no
//! secret and no object body, so it may be stored, sent and shown.

mod blockage;
mod cgroup_owner;
mod connection;
mod json;
mod probe;
mod request;
mod stream;
mod subject;
mod unit;
mod upgrade;
mod version_document;
mod vocabulary;

#[cfg(test)]
mod tests;

pub use blockage::Blockage;
pub use cgroup_owner::CgroupOwner;
pub use connection::ConnectionDecoder;
pub use probe::ProbeMissed;
pub(crate) use request::first_product;
pub use request::{RequestLine, ResponseLine};
pub use subject::{
    CaptureObservation, ConnectionObservation, ExchangeObservation, Observation, RunObservation, Subject, TapObservation,
    UpstreamObservation,
};
pub(crate) use unit::MAX_UNIT;
pub use vocabulary::{
    Body, BodyNotRead, ConnectionEnd, ConnectionId, EndManner, ExchangeEnd, ExchangeId, JoinedRequests, ListenerState,
    LoggedClient, Plaintext, Process, UpstreamName, WORDS,
};
