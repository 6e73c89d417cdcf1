//! Guesses the sockets of TLS connections from a thread's sends and receives outside its calls of the TLS library.
//!
//! A library that reads from memory and writes to it knows no socket: its caller receives before `SSL_read`, and sends after
//! `SSL_write`. So the nearest ones belong together, if there is no call on another connection in between and their lengths match.

/// Least bytes that TLS adds to the plaintext of a record: a header of five, and the tag of AES-CCM-8 with its nonce, or the
/// overhead of TLS 1.3 (RFC 8446 §5.2, RFC 6655 §3).
const LEAST_ADDED: u64 = 21;
/// Most bytes that TLS adds to a record (RFC 8446 §5.2: 256 bytes and the header).
const MOST_ADDED: u64 = 261;
/// Most bytes that may be sent with the first plaintext: the end of the handshake, with the client's certificates.
const MOST_OF_HANDSHAKE: u64 = 16 << 10;
/// Most bytes of plaintext in a record (RFC 8446 §5.1).
const RECORD: u64 = 16 << 10;

/// The last receives and writes of a thread. Sockets and connections are addresses; 0 stands for none.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ThreadSockets {
    /// The socket of the last receive.
    received_from: u64,
    /// Bytes received from it, since the last receive from another one.
    received: u64,
    /// The connection that has read since then.
    reader: u64,
    /// The connection that has written since the last send.
    writer: u64,
    /// Bytes of plaintext that it has written.
    written: u64,
}

impl ThreadSockets {
    pub(crate) const EMPTY: Self = Self { received_from: 0, received: 0, reader: 0, writer: 0, written: 0 };

    /// Bytes were received from a socket.
    #[inline(always)]
    pub(crate) fn received(&mut self, socket: u64, length: u64) {
        if self.received_from != socket {
            *self = Self { received_from: socket, received: 0, reader: 0, ..*self };
        }
        self.received += length;
    }

    /// `SSL_read` is called on a connection. Bytes received before belong to it, or to no connection.
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

    /// `SSL_write` is called on a connection. Bytes received before may belong to another one.
    #[inline(always)]
    pub(crate) fn writes(&mut self, connection: u64) {
        if self.writer != connection {
            self.writer = 0;
        }
        if self.reader != connection {
            self.received_from = 0;
        }
    }

    /// `SSL_read` returned `length` bytes. Returns the socket that they came from, or 0.
    #[inline(always)]
    pub(crate) fn read(&self, connection: u64, length: u64) -> u64 {
        if self.reader == connection && self.received >= length + LEAST_ADDED { self.received_from } else { 0 }
    }

    /// `SSL_write` accepted `length` bytes, and sent nothing itself.
    #[inline(always)]
    pub(crate) fn wrote(&mut self, connection: u64, length: u64) {
        if self.writer != connection {
            self.written = 0;
        }
        self.writer = connection;
        self.written += length;
    }

    /// `length` bytes were sent on some socket. Returns the connection that they belong to, or 0.
    #[inline(always)]
    pub(crate) fn sent(&mut self, length: u64) -> u64 {
        let Self { writer, written, .. } = *self;
        self.writer = 0;
        self.written = 0;
        let most = written + (written / RECORD + 1) * MOST_ADDED + MOST_OF_HANDSHAKE;
        if length >= written + LEAST_ADDED && length <= most { writer } else { 0 }
    }
}
