//! Passive decoding of one HTTP connection: both directions' bytes in, heads, body slices and ends out.
//!
//! The decoder answers, corrects and delays nothing: the bytes have already been forwarded. Names follow RFC 9110, RFC 9112
//! (HTTP/1.1), RFC 9113 (HTTP/2) and RFC 7541 (HPACK).
//!
//! No secret leaves this module. Of header fields, it passes on only those on the allow-list of [`HeaderName`]; of query
//! parameters, only those in [`crate::k8s::query`]; of `Authorization`, only an [`Identity`]; of `traceparent`, only a valid
//! [`TraceParent`].

mod connection;
mod detection;
mod event;
mod field;
mod gap;
mod h1;
mod h2;
mod header_fields;
mod headers;
mod held;
mod identity;
mod method;
mod target;
mod trace_parent;
mod websocket;

pub use connection::{Connection, Start};
pub use event::{Direction, Event, Loss, Protocol, RequestHead, ResponseHead, StreamId};
pub use field::Field;
pub use gap::Gap;
#[doc(hidden)]
pub use h2::hpack;
pub use h2::walker::{FrameWalker, Span};
pub use header_fields::{Blocks, HeaderFields, TooManyFields};
pub use headers::{HeaderName, Headers};
pub use identity::Identity;
pub use target::Target;
pub use trace_parent::TraceParent;
pub use websocket::{Part, WebSocket};
