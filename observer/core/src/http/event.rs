//! What the decoder says about a connection.

use serde::{Deserialize, Serialize};

use super::{Field, Headers, Identity, Target};
use crate::unshown::Unshown;

/// Which way bytes flow.
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

/// One request and its response on a connection: the stream identifier of HTTP/2, or on HTTP/1.1 the ordinal of the request,
/// starting at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StreamId(pub u64);

/// The head of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// The method, `OTHER` where HTTP has none of that name: it may be anything then.
    pub method: Field<String>,
    /// Path and allow-listed query.
    pub target: Field<Target>,
    /// Who the `Authorization` field says the client is.
    pub identity: Field<Identity>,
    /// Allow-listed header fields.
    pub headers: Headers,
    /// Whether the connection is to end with the response: so the client asks, or its HTTP/1.0 (RFC 9112 §9.3). Never on HTTP/2.
    pub closes: bool,
}

/// The head of a response that is not interim: of any but 1xx, and of 101.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status code.
    pub status: Field<u16>,
    /// Allow-listed header fields.
    pub headers: Headers,
}

/// Why a part of a connection is no longer observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// A gap whose end in the framing cannot be found: dark until the connection ends (HTTP/1.1 without a known length, or an
    /// HTTP/2 frame header or header block).
    Gap,
    /// The bytes were not HTTP as the standard has it; the `Malformed` event before this one says where.
    Malformed,
    /// A bound of the decoder was reached (header block too long, too many streams).
    Bound,
}

/// One thing that happened on a connection, in the order of the bytes.
///
/// The order between the two directions is that of the calls. Whatever the chunking of the bytes, the events are the same but for how
/// a body is cut into [`Event::Body`] slices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A request's head is complete.
    Request {
        /// Which exchange.
        stream: StreamId,
        /// The head.
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
        /// The head.
        head: ResponseHead,
    },
    /// Bytes of a body, transfer coding and padding removed, content coding not.
    Body {
        /// Which exchange.
        stream: StreamId,
        /// Request or response body.
        direction: Direction,
        /// The next bytes; never empty.
        bytes: Unshown<&'a [u8]>,
    },
    /// Bytes of a body that were not seen.
    BodyGap {
        /// Which exchange.
        stream: StreamId,
        /// Request or response body.
        direction: Direction,
        /// Missing bytes (an upper bound where padding was among them).
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
    /// The connection ended (or this side did) before the message was complete.
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
    /// The exchange became something else (101 or a successful CONNECT): from here on its bytes are not HTTP.
    Upgraded {
        /// Which exchange.
        stream: StreamId,
        /// The `Upgrade` token of the response in lower case, at most 32 bytes; empty for CONNECT.
        protocol: String,
    },
    /// Bytes of an upgraded exchange, in a protocol of its own.
    Opaque {
        /// Which exchange.
        stream: StreamId,
        /// Which way.
        direction: Direction,
        /// The next bytes; never empty. What somebody types into a shell may be among them.
        bytes: Unshown<&'a [u8]>,
    },
    /// Bytes of an upgraded exchange that were not seen.
    OpaqueGap {
        /// Which exchange.
        stream: StreamId,
        /// Which way.
        direction: Direction,
        /// How many.
        length: u64,
    },
    /// A flow-control window (RFC 9113 §5.2) is used up, or is not any more: nothing can be sent in this direction while it is. What is not known
    /// any more counts as not used up.
    Window {
        /// Of which stream; `None` for that of the whole connection.
        stream: Option<StreamId>,
        /// Of the DATA that has to wait.
        direction: Direction,
        /// Whether it is used up from here on.
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
    /// Bytes that are not HTTP as the standard has it. What follows in this direction is not observed unless the framing allows
    /// to go on; a [`Event::Dark`] says so when it does not.
    Malformed {
        /// Where the bytes came from.
        direction: Direction,
        /// Offset in this direction, from the first byte that the decoder was told of (gaps count).
        at: u64,
        /// What is wrong, in words.
        what: &'static str,
    },
    /// From here on this direction is not decoded any more; bytes are still counted by whoever feeds the decoder.
    Dark {
        /// Which direction.
        direction: Direction,
        /// Why.
        loss: Loss,
    },
}
