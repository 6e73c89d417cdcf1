//! HTTP over TLS, from the socket to the answer and back.

mod answer;
mod body;
mod connection;
mod form;
mod life;
mod port;
mod request_body;
mod resources;
mod respond;
mod scale;
mod stream;

pub(super) use life::{Life, Restart, StoreAfter};
pub(super) use port::Port;
pub(super) use respond::Responder;
