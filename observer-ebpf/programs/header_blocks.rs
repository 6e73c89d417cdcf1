//! Whose header block Go encodes or decodes, by the objects of Go's HTTP/2 themselves.
//!
//! What was noted of a goroutine may be of the past. These objects are of now: what they are not sure to say, nobody is told of.
//!
//! The places are the same in all of these: Go `src/net/http/h2_bundle.go`, go1.18 to go1.26, `src/net/http/internal/http2`, go1.27, and golang.org/x/net `http2`,
//! v0.17.0 to v0.57.0, with their copies of `http2/hpack`. The second word of an interface is the value's.

use crate::memory;

/// Where the `ClientConn` has its `net.Conn`, here `*tls.Conn`, behind a pointer to the `Transport`.
pub(crate) const TLS_CONNECTION: u64 = 16;

/// Where `hpack.Encoder` has what it writes to, here the `hbuf` of its connection (`w io.Writer`, behind the table and its sizes).
const WRITER: u64 = 88;
/// How far behind `hbuf`, a `bytes.Buffer`, its connection has the encoder (`henc`), which is the last of the `ClientConn`.
const ENCODER: u64 = 40;
/// `hbuf` begins before that in the `ClientConn`: 320 to 392 bytes behind its beginning. What lies next begins 384 bytes behind it at the least, as Go gives out memory,
/// and no connection has such a buffer so near to its own beginning.
const BUFFER_BEFORE: u64 = 416;

/// Where `hpack.Decoder` has the function that it gives fields to (`emit`), behind the table.
const EMIT: u64 = 64;
/// Words of that function's closure: its code, and what it holds, in an order that the compiler chooses.
const CLOSURE: usize = 8;
/// Where `bufio.Reader` has what it reads from, behind its buffer.
const BUFFERED_READER: u64 = 32;

/// The `*tls.Conn` of a `ClientConn`.
#[inline(always)]
pub(crate) fn connection_of(client: u64) -> Option<u64> {
    memory::value(client.wrapping_add(TLS_CONNECTION))
}

/// Whether an `hpack.Encoder` is that of this `ClientConn`, and that has this connection: it writes to a buffer inside of the `ClientConn`, which has the encoder behind it.
/// Nothing where that cannot be read.
#[inline(always)]
pub(crate) fn encodes_for(encoder: u64, client: u64, connection: u64) -> Option<bool> {
    let buffer = memory::value::<u64>(encoder.wrapping_add(WRITER))?;
    if buffer.wrapping_sub(client) >= BUFFER_BEFORE {
        return Some(false);
    }
    Some(memory::value::<u64>(buffer.wrapping_add(ENCODER))? == encoder && connection_of(client)? == connection)
}

/// Whether an `hpack.Decoder` gives its fields to a `Framer` that reads this connection: the function of each block (`(*Framer).readMetaFrame`) holds its `Framer`, which
/// begins with its reader, on a client's side a `bufio.Reader` before the connection.
#[inline(always)]
pub(crate) fn decodes_from(decoder: u64, connection: u64) -> bool {
    let Some(emit) = memory::value::<u64>(decoder.wrapping_add(EMIT)) else { return false };
    let Some([_code, held @ ..]) = memory::value::<[u64; CLOSURE]>(emit) else { return false };
    held.into_iter().any(|framer| {
        memory::value::<u64>(framer.wrapping_add(8))
            .is_some_and(|reader| reader == connection || memory::value(reader.wrapping_add(BUFFERED_READER)) == Some(connection))
    })
}
