//! Splits the bytes of a connection into lines of bounded length.

use bytes::BytesMut;
use serde::de::DeserializeOwned;

/// Size of a read, in bytes.
const READ: usize = 16 << 10;

/// Bytes that have arrived. It holds at most one line of the maximum length, and one read more.
#[derive(Debug)]
pub(super) struct Inbox {
    bytes: BytesMut,
    most: usize,
    /// Bytes at the beginning that contain no line end.
    searched: usize,
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    /// A line is longer than any message.
    #[error("a line is too long")]
    Long,
    /// A line has other contents.
    #[error("a line has unexpected contents")]
    Unexpected,
}

impl Inbox {
    /// An empty one, for lines of at most `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { bytes: BytesMut::new(), most, searched: 0 }
    }

    /// The place for the next read.
    pub(super) fn space(&mut self) -> &mut BytesMut {
        self.bytes.reserve(READ);
        &mut self.bytes
    }

    /// The next message; `None` if no complete line has arrived.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Malformed> {
        let further = self.bytes.get(self.searched..).unwrap_or_default();
        let Some(end) = further.iter().position(|byte| *byte == b'\n').map(|place| self.searched + place) else {
            self.searched = self.bytes.len();
            return if self.searched > self.most { Err(Malformed::Long) } else { Ok(None) };
        };
        self.searched = 0;
        let line = self.bytes.split_to(end + 1);
        if end > self.most {
            return Err(Malformed::Long);
        }
        // The error of serde_json could quote the line.
        serde_json::from_slice(&line).map(Some).map_err(|_error| Malformed::Unexpected)
    }
}
