//! Heads of HTTP/1.1, as servers and clients of a test read them.

use std::io::{self, Read};

/// Longer ones are not meant by any test.
const LONGEST: usize = 64 << 10;

/// The next head, of a request or of a response, with the empty line at its end, and not a byte of what follows; `None` when the other side has
/// ended.
pub fn read_head(stream: &mut impl Read) -> io::Result<Option<String>> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a head without end"));
        }
        if stream.read(&mut byte)? == 0 {
            return Ok(None);
        }
        head.extend(byte);
    }
    String::from_utf8(head).map(Some).map_err(io::Error::other)
}
