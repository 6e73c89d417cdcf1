//! HTTP/1.1 (RFC 9112), and 1.0 where it differs.
//!
//! Each direction is a machine of its own; what one must know of the other passes through [`pairing`]. Where the standard leaves a
//! choice, Go's net/http decides, because it is what both kube-apiserver and client-go run.
//!
//! Decisions worth knowing:
//! - A request is answered or cut: when the response direction ends, each request without a complete response gets a `MessageCut`,
//!   whether or not a byte of its response was there. A request head that was not complete has no stream, so its end is silent.
//! - An answer of 101, and a 2xx to CONNECT, is a `Response` and then an `Upgraded`. The end of the response
//!   direction is the `MessageEnd` of what was upgraded; the request's own `MessageEnd` came before.
//! - A response that nobody asked for (a server may send 408 before it closes) is `Malformed`, since it belongs to no stream.
//! - A head whose fields are in order but whose framing is not (RFC 9112 §6.3) is shown, and then the direction is dark.

mod body;
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
