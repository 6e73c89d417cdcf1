//! Records of the ring buffer for plaintext.

use crate::connection::ConnectionKey;

/// Maximum number of bytes of payload in one record. It is also the maximum for the plaintext of a TLS record (RFC 8446 §5.1), and
/// so for one call of `SSL_read`.
pub const LARGEST_PAYLOAD: usize = 16_384;

/// Sizes of the room that is reserved for payload; the smallest sufficient one is used.
pub const PAYLOAD_SIZES: [usize; 3] = [512, 4_096, LARGEST_PAYLOAD];

/// Maximum number of bytes of one call that are recorded. The other bytes of a larger call are missing, which the offset of the
/// next record shows.
pub const LARGEST_CALL: usize = 64 * LARGEST_PAYLOAD;

/// Flag of a [`Record`]: the memory of the process could not be read, so the payload is invalid, and `length` bytes are missing. It
/// also marks a header field that is too long for a record.
pub const UNREADABLE: u32 = 1;

/// Flag of a [`Record`] of [`Kind::Closed`]: the library has sent `close_notify`.
pub const CLOSE_NOTIFIED: u32 = 2;

/// Flag of a [`Record`] of [`Kind::Headers`]: the connection is no longer wanted, and neither are the fields.
pub const UNWANTED: u32 = 4;

/// The kind of a [`Record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// Plaintext that the process passed to its TLS library, and that the library accepted.
    Sent = 1,
    /// Plaintext that the TLS library returned to the process.
    Received = 2,
    /// The TLS connection is closed (`SSL_free`, `(*tls.Conn).Close`). `offset` is the number of bytes sent, and the payload is the
    /// number of bytes received, 8 bytes.
    Closed = 3,
    /// A header field that was passed to Go's HPACK encoder for a connection with an API server. The payload is its name, of
    /// `name_length` bytes, and its value. The address is that of the goroutine; `since` and `offset` are 0. `descriptor` is the
    /// number of earlier fields of the block, including lost ones.
    SentField = 4,
    /// Go's HTTP/2 client writes the header block of a stream, from the fields that the goroutine has encoded. `offset` is the
    /// number of the stream, and the payload is the address of the goroutine, 8 bytes. `since` is 0, and `descriptor` is the number
    /// of fields in the block.
    Headers = 5,
    /// A header field that Go's HPACK decoder returned, with a payload as [`Kind::SentField`]. `offset` is the number of bytes
    /// received on the connection so far: the header block ends within the read that ends there. `descriptor` is the number of
    /// earlier fields of the same read, including lost ones.
    ReceivedField = 6,
    /// The endpoints of the connection became known. The record comes before the first bytes, unless the socket becomes known
    /// later. The payload is an [`Opened`](crate::Opened), and `offset` is the number of bytes sent before.
    Opened = 7,
    /// The connection does not involve an API server, so its recorded bytes are to be discarded. There is no payload. A connection
    /// without recorded bytes has no such record.
    Elsewhere = 8,
}

/// The head of each record of plaintext; `length` bytes of payload follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Record {
    /// The connection of the record.
    pub connection: ConnectionKey,
    /// Time in nanoseconds since boot, without suspended time (`CLOCK_MONOTONIC`, `bpf_ktime_get_ns`): the start of a call that
    /// sends, the end of one that receives.
    pub time: u64,
    /// Number of bytes in the same direction of this connection before this payload, recorded or not.
    pub offset: u64,
    /// Number of bytes of payload.
    pub length: u32,
    /// A [`Kind`]. Any other number is from another version of the programs.
    pub kind: u32,
    /// The calling thread.
    pub thread: u32,
    /// The descriptor of the socket; negative if it could not be read. For header fields, a number of fields: see [`Kind`].
    pub descriptor: i32,
    /// [`UNREADABLE`], [`CLOSE_NOTIFIED`] or [`UNWANTED`], or 0.
    pub flags: u32,
    /// Length of a header field's name at the start of the payload; 0 for other records.
    pub name_length: u32,
}

const _: () = assert!(size_of::<Record>() == 24 + 16 + 24, "no padding");
