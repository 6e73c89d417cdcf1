//! What the programs put into the ring buffers.

use crate::connection::ConnectionKey;

/// The most payload of one record, in bytes: what TLS puts into one record of its own (RFC 8446 §5.1), which is what one call of `SSL_read` returns at most.
pub const LARGEST_PAYLOAD: usize = 16_384;

/// Room for payload is reserved in one of these sizes, the smallest that suffices.
pub const PAYLOAD_SIZES: [usize; 3] = [512, 4_096, LARGEST_PAYLOAD];

/// Of one call so many bytes are recorded at most; of a larger one the rest is a hole, which the next record's offset shows.
pub const LARGEST_CALL: usize = 64 * LARGEST_PAYLOAD;

/// Flag of a [`Record`]: the memory of the process could not be read, so the payload is void; a hole of `length` bytes. Also a field that is longer
/// than a record has room for.
pub const UNREADABLE: u32 = 1;

/// Flag of a [`Record`] of [`Kind::Closed`]: the library has said to the other side that nothing more will be sent (`close_notify`).
pub const CLOSE_NOTIFIED: u32 = 2;

/// Flag of a [`Record`] of [`Kind::Headers`]: nobody wants the connection any more, and so not the fields.
pub const UNWANTED: u32 = 4;

/// What a record tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// Plaintext that the process gave to its TLS library, which took it.
    Sent = 1,
    /// Plaintext that the process got from its TLS library.
    Received = 2,
    /// The TLS connection is given up (`SSL_free`, `(*tls.Conn).Close`): `offset` is what was sent in all, and the payload what was received, 8 bytes.
    Closed = 3,
    /// A header field that Go's HPACK encoder is given, for a connection with an API server: the payload is name and value, `name_length` long the first. The address
    /// is that of the goroutine, `since` and `offset` are 0. In place of the descriptor is how many fields of the same block came before, those among them that
    /// found no room.
    SentField = 4,
    /// Go's HTTP/2 client begins to write the header block of a stream, of the fields that the goroutine gave to an encoder before. The number of the stream
    /// is `offset`, and the payload the address of the goroutine, 8 bytes. `since` is 0, and in place of the descriptor is how many fields the block has.
    Headers = 5,
    /// A header field that Go's HPACK decoder gives out, as [`Kind::SentField`]. `offset` is how many bytes of the connection were received by
    /// then: the last byte of the header block is among those of the read that ends there. In place of the descriptor is how many fields of the same read
    /// came before, those among them that found no room.
    ReceivedField = 6,
    /// Where the connection leads, before its first bytes or, where its socket becomes known only later, as soon as that is: the payload is an
    /// [`Opened`](crate::Opened), and `offset` is what was sent before.
    Opened = 7,
    /// The connection leads to no API server, and bytes of it were recorded before that was known: they mean nothing. There is no payload. Of a connection of
    /// which nothing was recorded it is not told.
    Elsewhere = 8,
}

/// The head of each record of plaintext; `length` bytes of payload follow at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Record {
    /// The connection that this is of.
    pub connection: ConnectionKey,
    /// When, in nanoseconds since the machine was started, without the time that it slept (`CLOCK_MONOTONIC`, `bpf_ktime_get_ns`). The beginning of a
    /// call that sends, the end of one that receives.
    pub time: u64,
    /// How many bytes of the same direction of this connection were before the first one of this payload, whether they were recorded or not.
    pub offset: u64,
    /// How many bytes of payload there are.
    pub length: u32,
    /// A [`Kind`]. A number that is none comes of another version of the programs.
    pub kind: u32,
    /// The thread that called.
    pub thread: u32,
    /// The descriptor of the socket, negative where it could not be read.
    pub descriptor: i32,
    /// [`UNREADABLE`], [`CLOSE_NOTIFIED`] or [`UNWANTED`], or 0.
    pub flags: u32,
    /// How much of the payload is the name of a field; else 0.
    pub name_length: u32,
}

const _: () = assert!(size_of::<Record>() == 24 + 16 + 24, "no padding");
