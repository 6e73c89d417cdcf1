//! Finds the connection of a header block that Go encodes or decodes, from the objects of Go's HTTP/2.
//!
//! The state kept of a goroutine may be outdated, but these objects are current. A field is recorded only if they confirm its
//! connection.
//!
//! The offsets are the same in Go's `src/net/http/h2_bundle.go` (go1.18 to go1.26), its `src/net/http/internal/http2` (go1.27), and
//! golang.org/x/net `http2` (v0.17.0 to v0.57.0). This includes their copies of `http2/hpack`. The second word of an interface
//! points to the value.

use crate::memory;

/// Offset in the `ClientConn` of its `net.Conn`, here a `*tls.Conn`, after a pointer to the `Transport`.
pub(crate) const TLS_CONNECTION: u64 = 16;

/// Offset in the `hpack.Encoder` of its writer (`w io.Writer`, after the table and its sizes), here the `hbuf` of its connection.
const WRITER: u64 = 88;
/// Distance in the `ClientConn` from `hbuf`, a `bytes.Buffer`, to the encoder (`henc`), its last member.
const ENCODER: u64 = 40;
/// Upper bound of the offset of `hbuf` in the `ClientConn`, which is 320 to 392. Go's allocator puts the next object at least 384
/// bytes after the start of this one. No connection has such a buffer that close to its own start.
const BUFFER_BEFORE: u64 = 416;

/// Offset in the `hpack.Decoder` of the function that receives its fields (`emit`), after the table.
const EMIT: u64 = 64;
/// Words of that function's closure: its code and its captured variables, in an order that the compiler chooses.
const CLOSURE: usize = 8;
/// Offset in the `bufio.Reader` of its source, after its buffer.
const BUFFERED_READER: u64 = 32;

/// The `*tls.Conn` of a `ClientConn`.
#[inline(always)]
pub(crate) fn connection_of(client: u64) -> Option<u64> {
    memory::value(client.wrapping_add(TLS_CONNECTION))
}

/// Whether an `hpack.Encoder` is that of this `ClientConn`, and the `ClientConn` has this connection. The encoder writes to a
/// buffer inside the `ClientConn`, which has the encoder after the buffer. `None` if this cannot be read.
#[inline(always)]
pub(crate) fn encodes_for(encoder: u64, client: u64, connection: u64) -> Option<bool> {
    let buffer = memory::value::<u64>(encoder.wrapping_add(WRITER))?;
    if buffer.wrapping_sub(client) >= BUFFER_BEFORE {
        return Some(false);
    }
    Some(memory::value::<u64>(buffer.wrapping_add(ENCODER))? == encoder && connection_of(client)? == connection)
}

/// Whether an `hpack.Decoder` passes its fields to a `Framer` that reads this connection. The function of each block
/// (`(*Framer).readMetaFrame`) captures its `Framer`, which begins with its reader. In a client the reader is a `bufio.Reader` of
/// the connection.
#[inline(always)]
pub(crate) fn decodes_from(decoder: u64, connection: u64) -> bool {
    let Some(emit) = memory::value::<u64>(decoder.wrapping_add(EMIT)) else { return false };
    let Some([_code, held @ ..]) = memory::value::<[u64; CLOSURE]>(emit) else { return false };
    held.into_iter().any(|framer| {
        memory::value::<u64>(framer.wrapping_add(8))
            .is_some_and(|reader| reader == connection || memory::value(reader.wrapping_add(BUFFERED_READER)) == Some(connection))
    })
}
