//! The events that the decoder of a connection emits.

use serde::{Deserialize, Serialize};

use super::{Field, Headers, Identity, Target, TraceParent};
use crate::redacted::Redacted;

/// The direction of bytes on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the client (downstream) to the API server (upstream).
    Request,
    /// From the API server to the client.
    Response,
}

/// The protocol that a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Protocol {
    /// HTTP/1.0 and HTTP/1.1 (RFC 9112).
    #[serde(rename = "http/1.1")]
    Http1,
    /// HTTP/2 (RFC 9113).
    #[serde(rename = "h2")]
    Http2,
}

/// Identifies one request and its response on a connection. On HTTP/2, it is the stream identifier; on HTTP/1.1, the ordinal of the
/// request, starting at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StreamId(pub u64);

/// The head of a request, reduced to the parts that may leave this module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// The method; `OTHER` if HTTP defines no such method, because any other word may be a secret.
    pub method: Field<String>,
    /// Path and allow-listed query.
    pub target: Field<Target>,
    /// The identity that the `Authorization` field claims.
    pub identity: Field<Identity>,
    /// The place in a trace of the client; `None` if `traceparent` is absent, unknown, invalid or repeated.
    pub traceparent: Option<Box<TraceParent>>,
    /// Allow-listed header fields.
    pub headers: Headers,
    /// Whether the connection closes after the response: the client asks for it, or speaks HTTP/1.0 without keep-alive
    /// (RFC 9112 §9.3). Never on HTTP/2.
    pub closes: bool,
}

/// The head of a final response, or of 101.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status code.
    pub status: Field<u16>,
    /// Allow-listed header fields.
    pub headers: Headers,
}

/// Why a part of a connection is no longer decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// A gap after which the framing cannot be found again, such as one in a head or a frame header. The direction stays undecoded
    /// until the connection ends.
    Gap,
    /// The bytes violate the HTTP standard; the preceding `Malformed` event has the offset.
    Malformed,
    /// A bound of the decoder was reached (header block too long, too many streams).
    Bound,
}

/// One event of a connection, in the order of the bytes.
///
/// The order between the two directions is that of the calls. The chunking of the bytes changes nothing but how a body is cut into
/// [`Event::Body`] slices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A request's head is complete.
    Request {
        /// Which exchange.
        stream: StreamId,
        /// Its method, target, identity and header fields.
        head: RequestHead,
    },
    /// An interim response (1xx other than 101).
    Informational {
        /// Which exchange.
        stream: StreamId,
        /// 100, 103, …
        status: u16,
    },
    /// The head of a final response, or of 101, is complete.
    Response {
        /// Which exchange.
        stream: StreamId,
        /// Its status and header fields.
        head: ResponseHead,
    },
    /// Bytes of a body, without transfer coding and padding, but with the content coding.
    Body {
        /// Which exchange.
        stream: StreamId,
        /// Request or response body.
        direction: Direction,
        /// The next bytes; never empty.
        bytes: Redacted<&'a [u8]>,
    },
    /// Bytes of a body that were not seen.
    BodyGap {
        /// Which exchange.
        stream: StreamId,
        /// Request or response body.
        direction: Direction,
        /// Number of missing bytes (an upper bound if padding was among them).
        length: u64,
    },
    /// A message is complete: `END_STREAM`, the last chunk and trailers, the last byte of content-length, or an end of the
    /// connection that frames the body.
    MessageEnd {
        /// Which exchange.
        stream: StreamId,
        /// Request or response.
        direction: Direction,
    },
    /// The connection, or this direction of it, ended before the message was complete.
    MessageCut {
        /// Which exchange.
        stream: StreamId,
        /// Request or response.
        direction: Direction,
    },
    /// `RST_STREAM`.
    Reset {
        /// Which exchange.
        stream: StreamId,
        /// `Request` when the client sent it.
        by: Direction,
        /// The error code of RFC 9113 §7.
        code: u32,
    },
    /// The exchange switched to another protocol (101 or a successful CONNECT): from here on its bytes are not HTTP.
    Upgraded {
        /// Which exchange.
        stream: StreamId,
        /// The `Upgrade` token of the response in lower case, at most 32 bytes; empty for CONNECT.
        protocol: String,
    },
    /// Bytes of an upgraded exchange, in its own protocol.
    Opaque {
        /// Which exchange.
        stream: StreamId,
        /// Direction of the bytes.
        direction: Direction,
        /// The next bytes; never empty. They may include the input of a user's shell.
        bytes: Redacted<&'a [u8]>,
    },
    /// Bytes of an upgraded exchange that were not seen.
    OpaqueGap {
        /// Which exchange.
        stream: StreamId,
        /// Direction of the bytes.
        direction: Direction,
        /// Number of missing bytes.
        length: u64,
    },
    /// A flow-control window (RFC 9113 §5.2) is used up, or has room again. While it is used up, no DATA can be sent in this
    /// direction. A window that becomes unknown counts as having room.
    Window {
        /// The stream; `None` for the window of the connection.
        stream: Option<StreamId>,
        /// Direction of the DATA that has to wait.
        direction: Direction,
        /// Whether the window is used up from here on.
        used_up: bool,
    },
    /// GOAWAY.
    GoAway {
        /// `Response` when the server sent it.
        by: Direction,
        /// The last stream that is or may be processed.
        last_stream: u32,
        /// The error code of RFC 9113 §7.
        code: u32,
    },
    /// Bytes that violate the HTTP standard. The rest of this direction is not decoded unless the framing allows the decoder to
    /// continue; if it does not, [`Event::DecodingStopped`] follows.
    Malformed {
        /// Where the bytes came from.
        direction: Direction,
        /// Offset in this direction, from the first byte that the decoder received (gaps count).
        at: u64,
        /// The violation, in words.
        what: &'static str,
    },
    /// This direction is not decoded from here on; the caller still counts its bytes.
    DecodingStopped {
        /// The direction that is no longer decoded.
        direction: Direction,
        /// Why decoding stopped.
        loss: Loss,
    },
}
