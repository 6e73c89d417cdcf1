//! Detects the protocol of a connection from its first bytes.
//!
//! The client decides: RFC 9113 §3.4 requires a preface of 24 bytes that is not HTTP/1.1. A server may send bytes before that (its
//! SETTINGS), so all bytes are held until the protocol is known.

use super::held::HeldBytes;
use super::{Direction, Loss, Protocol};

/// The connection preface of an HTTP/2 client.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Maximum number of bytes held until the protocol is known.
const MAX_HELD: usize = 64 * 1024;

/// The detection of one connection: its result so far, and the bytes held for the decoder.
#[derive(Debug)]
pub(super) struct Detection {
    finding: Finding,
    /// Bytes of the preface that the client has sent.
    matched: usize,
    pieces: Vec<(Direction, HeldPiece)>,
    length: usize,
}

/// The result of reading the first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// More bytes are needed.
    Undecided,
    /// The client speaks this protocol.
    Speaks(Protocol),
    /// The protocol cannot be detected.
    Lost(Loss),
}

/// One held call.
#[derive(Debug)]
pub(super) enum HeldPiece {
    Bytes(HeldBytes),
    /// The end of the direction.
    End,
}

impl Detection {
    pub(super) fn new() -> Self {
        Self { finding: Finding::Undecided, matched: 0, pieces: Vec::new(), length: 0 }
    }

    /// Examines the next bytes of a direction and holds them.
    pub(super) fn bytes(&mut self, direction: Direction, bytes: &[u8]) -> Finding {
        match direction {
            Direction::Request => self.match_preface(bytes),
            Direction::Response => {}
        }
        self.length = self.length.saturating_add(bytes.len());
        // Once the protocol is known, the decoder gets the held bytes immediately, so the bound applies only before.
        if self.finding == Finding::Undecided && self.length > MAX_HELD {
            self.finding = Finding::Lost(Loss::Bound);
        }
        self.hold(direction, bytes);
        self.finding
    }

    /// Notes a gap, which may have contained the client's first bytes.
    pub(super) fn gap(&mut self) -> Finding {
        self.finding = Finding::Lost(Loss::Gap);
        self.finding
    }

    /// Notes the end of a direction. If the client sent nothing, the server's first byte decides. It is 0 on HTTP/2, because a
    /// server begins with the length (three bytes) of its SETTINGS frame, which is below 65536.
    pub(super) fn end(&mut self, direction: Direction) -> Finding {
        self.pieces.push((direction, HeldPiece::End));
        match direction {
            Direction::Request => {
                let protocol = if self.matched == 0 && self.server_begins_with_zero() { Protocol::Http2 } else { Protocol::Http1 };
                self.finding = Finding::Speaks(protocol);
            }
            Direction::Response => {}
        }
        self.finding
    }

    /// The calls that were held, in order.
    pub(super) fn into_pieces(self) -> Vec<(Direction, HeldPiece)> {
        self.pieces
    }

    fn match_preface(&mut self, bytes: &[u8]) {
        let expected = PREFACE.get(self.matched..).unwrap_or_default();
        let compared = expected.len().min(bytes.len());
        if expected.get(..compared) != bytes.get(..compared) {
            self.finding = Finding::Speaks(Protocol::Http1);
        } else if compared == expected.len() {
            self.finding = Finding::Speaks(Protocol::Http2);
        }
        self.matched = self.matched.saturating_add(compared);
    }

    fn hold(&mut self, direction: Direction, bytes: &[u8]) {
        match self.pieces.last_mut() {
            Some((last, HeldPiece::Bytes(held))) if *last == direction => held.extend(bytes),
            Some(_) | None => {
                let mut held = HeldBytes::default();
                held.extend(bytes);
                self.pieces.push((direction, HeldPiece::Bytes(held)));
            }
        }
    }

    fn server_begins_with_zero(&self) -> bool {
        self.pieces.iter().any(|(direction, piece)| match (direction, piece) {
            (Direction::Response, HeldPiece::Bytes(held)) => held.as_slice().first() == Some(&0),
            (Direction::Response, HeldPiece::End) | (Direction::Request, _) => false,
        })
    }
}

impl Protocol {
    /// The protocol of a client whose `bytes` begin a connection, or a later request; `None` for any other bytes.
    pub fn of_client(bytes: &[u8]) -> Option<Self> {
        let method = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        match bytes.split_at_checked(method) {
            _ if bytes.starts_with(PREFACE) => Some(Self::Http2),
            Some(([_, _, _, ..], [b' ', b'/', ..])) => Some(Self::Http1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Detection, Direction, Finding, HeldPiece, Loss, MAX_HELD, PREFACE, Protocol};

    const HTTP1: Finding = Finding::Speaks(Protocol::Http1);
    const HTTP2: Finding = Finding::Speaks(Protocol::Http2);

    #[test]
    fn first_client_bytes_reveal_the_protocol_of_a_new_connection() {
        for (bytes, expected) in [
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04".as_slice(), Some(Protocol::Http2)),
            (b"GET /api/v1/pods HTTP/1.1\r\n", Some(Protocol::Http1)),
            (b"DELETE / HTTP/1.1\r\n", Some(Protocol::Http1)),
            (b"PRI * HTTP/2.0", None),
            (b"GET", None),
            (b"Go /on", None),
            (b"\0\0\x04\x08\0\0\0\0\0", None),
            (b" /", None),
            (b"", None),
        ] {
            assert_eq!(Protocol::of_client(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn client_preface_decides_the_protocol_in_any_chunks() {
        for (bytes, expected) in [
            (PREFACE, HTTP2),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04", HTTP2),
            (b"PRI * HTTP/1.1\r\n\r\n", HTTP1),
            (b"GET /version HTTP/1.1\r\n", HTTP1),
            (b"POST / HTTP/1.1\r\n", HTTP1),
            (b"\r\nGET / HTTP/1.1\r\n", HTTP1),
            (b"PRI * HTTP/2.0\r\n\r\nSM", Finding::Undecided),
        ] {
            for cut_at in 0..bytes.len() {
                let (first, second) = bytes.split_at(cut_at);
                let mut detection = Detection::new();
                let found = match detection.bytes(Direction::Request, first) {
                    Finding::Undecided => detection.bytes(Direction::Request, second),
                    finding @ (Finding::Speaks(_) | Finding::Lost(_)) => finding,
                };
                assert_eq!(found, expected, "{} cut at {cut_at}", String::from_utf8_lossy(bytes));
            }
        }
    }

    #[test]
    fn early_server_bytes_are_held_in_order_to_a_limit() {
        let mut detection = Detection::new();
        assert_eq!(detection.bytes(Direction::Response, &vec![0; MAX_HELD - 24]), Finding::Undecided);
        assert_eq!(detection.bytes(Direction::Request, b"PRI"), Finding::Undecided);
        assert_eq!(detection.bytes(Direction::Response, b"more"), Finding::Undecided);
        let lengths: Vec<_> = detection.pieces.iter().map(|(direction, piece)| (*direction, length(piece))).collect();
        assert_eq!(lengths, [(Direction::Response, MAX_HELD - 24), (Direction::Request, 3), (Direction::Response, 4)]);
        assert_eq!(detection.bytes(Direction::Response, &[0; 18]), Finding::Lost(Loss::Bound));
    }

    #[test]
    fn server_bytes_decide_the_protocol_when_the_client_ends_early() {
        for (client, server, expected) in [
            (&b""[..], &b"\0\0\x12\x04"[..], HTTP2),
            (b"", b"HTTP/1.1 408 Request Timeout\r\n\r\n", HTTP1),
            (b"PRI", b"\0\0\x12\x04", HTTP1),
            (b"", b"", HTTP1),
        ] {
            let mut detection = Detection::new();
            for (direction, bytes) in [(Direction::Request, client), (Direction::Response, server)] {
                if !bytes.is_empty() {
                    detection.bytes(direction, bytes);
                }
            }
            assert_eq!(detection.end(Direction::Request), expected);
        }
    }

    fn length(piece: &HeldPiece) -> usize {
        match piece {
            HeldPiece::Bytes(held) => held.len(),
            HeldPiece::End => 0,
        }
    }
}
