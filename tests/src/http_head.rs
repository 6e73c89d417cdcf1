//! Reads heads of HTTP/1.1 for servers and clients of a test.

use std::io::{self, Read};

/// Maximum length of a head, in bytes; no test uses a longer one.
const LONGEST: usize = 64 << 10;

/// The next head, of a request or of a response, up to and including the empty line; no byte of the body is read. `None` when the
/// other side has closed.
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
