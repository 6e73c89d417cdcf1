//! Guesses the sockets of TLS connections from a thread's sends and receives outside its calls of the TLS library.
//!
//! A library that reads from memory and writes to it knows no socket: its caller receives before `SSL_read`, and sends after
//! `SSL_write`. So a call belongs to the nearest receive or send, if there is no call on another connection in between and the
//! lengths match.

/// Minimum number of bytes that TLS adds to the plaintext of a record: a header of five bytes, and the tag of AES-CCM-8 with its
/// nonce, or the overhead of TLS 1.3 (RFC 8446 §5.2, RFC 6655 §3).
const LEAST_ADDED: u64 = 21;
/// Maximum number of bytes that TLS adds to a record (RFC 8446 §5.2: 256 bytes and the header).
const MOST_ADDED: u64 = 261;
/// Maximum number of bytes that may be sent with the first plaintext: the end of the handshake, with the client's certificates.
const MOST_OF_HANDSHAKE: u64 = 16 << 10;
/// Maximum number of bytes of plaintext in a record (RFC 8446 §5.1).
const RECORD: u64 = 16 << 10;

/// The last receives and writes of a thread. Sockets and connections are addresses; 0 stands for none.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ThreadSockets {
    /// The socket of the last receive.
    received_from: u64,
    /// Number of bytes received from this socket, since the last receive from another one.
    received: u64,
    /// The connection that has read since the last receive from another socket.
    reader: u64,
    /// The connection that has written since the last send.
    writer: u64,
    /// Number of bytes of plaintext that `writer` has written.
    written: u64,
}

impl ThreadSockets {
    pub(crate) const EMPTY: Self = Self { received_from: 0, received: 0, reader: 0, writer: 0, written: 0 };

    /// Notes that bytes were received from a socket.
    #[inline(always)]
    pub(crate) fn received(&mut self, socket: u64, length: u64) {
        if self.received_from != socket {
            *self = Self { received_from: socket, received: 0, reader: 0, ..*self };
        }
        self.received += length;
    }

    /// Notes that `SSL_read` is called on a connection. If it is the first one to read, bytes received before belong to it.
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

    /// Notes that `SSL_write` is called on a connection. Bytes received before may belong to another one.
    #[inline(always)]
    pub(crate) fn writes(&mut self, connection: u64) {
        if self.writer != connection {
            self.writer = 0;
        }
        if self.reader != connection {
            self.received_from = 0;
        }
    }

    /// Returns the socket from which `length` bytes came that `SSL_read` returned; 0 if unknown.
    #[inline(always)]
    pub(crate) fn read(&self, connection: u64, length: u64) -> u64 {
        if self.reader == connection && self.received >= length + LEAST_ADDED { self.received_from } else { 0 }
    }

    /// Notes that `SSL_write` accepted `length` bytes, and sent nothing itself.
    #[inline(always)]
    pub(crate) fn wrote(&mut self, connection: u64, length: u64) {
        if self.writer != connection {
            self.written = 0;
        }
        self.writer = connection;
        self.written += length;
    }

    /// Notes that `length` bytes were sent on some socket. Returns the connection that they belong to; 0 if unknown.
    #[inline(always)]
    pub(crate) fn sent(&mut self, length: u64) -> u64 {
        let Self { writer, written, .. } = *self;
        self.writer = 0;
        self.written = 0;
        let most = written + (written / RECORD + 1) * MOST_ADDED + MOST_OF_HANDSHAKE;
        if length >= written + LEAST_ADDED && length <= most { writer } else { 0 }
    }
}
