//! Serves HTTP over TLS: accepts connections, routes requests and sends answers.

mod answer;
mod body;
mod connection;
mod form;
mod port;
mod request_body;
mod resources;
mod respond;
mod restartable;
mod scale;
mod slow;
mod stream;

pub(super) use port::Port;
pub(super) use respond::Responder;
pub(super) use restartable::{Restart, RestartableServer, StoreAfter};
