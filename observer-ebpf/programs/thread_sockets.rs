//! Which sockets a thread sends on and receives from beside its calls of the TLS library.
//!
//! A library that reads from memory and writes to it knows no socket: its caller receives before `SSL_read`, and sends after `SSL_write`. So what lies
//! nearest belongs together, if no call for another connection is in between and the lengths allow it.

/// What TLS adds to the plaintext of a record at least, in bytes: a header of five and the tag of AES-CCM-8 with its nonce, or what TLS 1.3 adds
/// (RFC 8446 §5.2, RFC 6655 §3).
const LEAST_ADDED: u64 = 21;
/// What it adds at most to one record (RFC 8446 §5.2: 256 bytes, and the header).
const MOST_ADDED: u64 = 261;
/// What may go out together with the first plaintext: the end of the handshake, with the client's certificates.
const MOST_OF_HANDSHAKE: u64 = 16 << 10;
/// The most plaintext of one record (RFC 8446 §5.1).
const RECORD: u64 = 16 << 10;

/// Two numbers, so that 0 for an address is nobody.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ThreadSockets {
    /// The socket that was received from last.
    received_from: u64,
    /// How many bytes, since another one was received from.
    received: u64,
    /// The connection that has read since.
    reader: u64,
    /// The connection that has written since something was sent.
    writer: u64,
    /// How many bytes of plaintext.
    written: u64,
}

impl ThreadSockets {
    pub(crate) const EMPTY: Self = Self { received_from: 0, received: 0, reader: 0, writer: 0, written: 0 };

    /// Bytes came from a socket.
    #[inline(always)]
    pub(crate) fn received(&mut self, socket: u64, length: u64) {
        if self.received_from != socket {
            *self = Self { received_from: socket, received: 0, reader: 0, ..*self };
        }
        self.received += length;
    }

    /// `SSL_read` of a connection is called: what was received before is its own, or it is nobody's.
    #[inline(always)]
    pub(crate) fn reads(&mut self, connection: u64) {
        if self.writer != connection {
            self.writer = 0;
        }
        if self.reader == 0 {
            self.reader = connection;
        } else if self.reader != connection {
            self.received_from = 0;
        }
    }

    /// `SSL_write` of a connection is called: what was received before may be another's.
    #[inline(always)]
    pub(crate) fn writes(&mut self, connection: u64) {
        if self.writer != connection {
            self.writer = 0;
        }
        if self.reader != connection {
            self.received_from = 0;
        }
    }

    /// `SSL_read` gave out so many bytes: from this socket, or 0.
    #[inline(always)]
    pub(crate) fn read(&self, connection: u64, length: u64) -> u64 {
        if self.reader == connection && self.received >= length + LEAST_ADDED { self.received_from } else { 0 }
    }

    /// `SSL_write` took so many bytes, and sent nothing itself.
    #[inline(always)]
    pub(crate) fn wrote(&mut self, connection: u64, length: u64) {
        if self.writer != connection {
            self.written = 0;
        }
        self.writer = connection;
        self.written += length;
    }

    /// Bytes were sent on some socket: those of this connection, or 0.
    #[inline(always)]
    pub(crate) fn sent(&mut self, length: u64) -> u64 {
        let Self { writer, written, .. } = *self;
        self.writer = 0;
        self.written = 0;
        let most = written + (written / RECORD + 1) * MOST_ADDED + MOST_OF_HANDSHAKE;
        if length >= written + LEAST_ADDED && length <= most { writer } else { 0 }
    }
}
