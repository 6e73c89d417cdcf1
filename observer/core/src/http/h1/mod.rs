//! HTTP/1.1 (RFC 9112), and 1.0 where it differs.
//!
//! Each direction is a state machine of its own; [`pairing`] passes on the facts that one needs from the other. Where the standard
//! leaves a choice, Go's net/http decides, because both kube-apiserver and client-go run it.
//!
//! Decisions worth knowing:
//! - Every request is answered or cut: when the response direction ends, each request without a complete response gets a
//!   `MessageCut`, even if no byte of the response came. An incomplete request head has no stream, so its end is not reported.
//! - A response with 101, or with 2xx to CONNECT, gives a `Response` and then an `Upgraded`. The end of the response direction is
//!   the `MessageEnd` of the upgraded exchange; the request's own `MessageEnd` came before.
//! - A response without a request (a server may send 408 before it closes) is `Malformed`, since it belongs to no stream.
//! - A head with valid fields but invalid framing (RFC 9112 §6.3) is reported, and then decoding of the direction stops.

mod body;
mod body_step;
mod chunked;
mod decoder;
mod fault;
mod fields;
mod framing;
mod head;
mod input;
mod lines;
mod pairing;
mod requests;
mod responses;
mod start_line;
#[cfg(test)]
mod tests;
mod undecided;

pub(super) use decoder::Decoder;
