//! One TLS side of a connection: plaintext in and out, and the exact manner of its end.
//!
//! This module uses rustls directly, without tokio-rustls. A splice needs three operations that `AsyncRead` and `AsyncWrite` do not
//! offer: to borrow plaintext without a copy, to seal records before they are flushed, and to find out how a side ended.

use std::io::{self, BufRead, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustls::Connection;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::socket;
use crate::api_server::Transport;
use crate::intake::EndManner;

/// A connection and its TLS state, after the handshake.
#[derive(Debug)]
pub(super) struct Side {
    transport: Transport,
    /// Boxed, since it is large, and a future reserves room for it in each place that it is moved to.
    tls: Box<Connection>,
    /// How this side ended; `None` while more TLS records may come.
    end: Option<EndManner>,
    /// Whether a write failed: the peer has reset the connection, even if reads show an ordinary end.
    gone: bool,
    notified: bool,
    /// Whether the end of the direction to the peer has begun.
    parting: bool,
    written: usize,
}

impl Side {
    pub(super) fn new(transport: impl Into<Transport>, tls: impl Into<Connection>) -> Self {
        Self {
            transport: transport.into(),
            tls: Box::new(tls.into()),
            end: None,
            gone: false,
            notified: false,
            parting: false,
            written: 0,
        }
    }

    pub(super) fn tcp(&self) -> &TcpStream {
        self.transport.tcp()
    }

    /// Waits until [`Self::plaintext`] is not empty. If this side has ended, returns how, at each call.
    pub(super) fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<Result<(), EndManner>> {
        loop {
            match self.tls.reader().fill_buf() {
                Ok([]) => return Poll::Ready(Err(self.manner(EndManner::CloseNotify))),
                Ok(_) => return Poll::Ready(Ok(())),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_unexpected_eof) => return Poll::Ready(Err(self.manner(EndManner::Fin))),
            }
            if let Some(end) = self.end {
                return Poll::Ready(Err(self.manner(end)));
            }
            self.end = ready!(self.poll_records(context)).err();
        }
    }

    /// Plaintext that was read but not consumed: from one TLS record at most, and never empty after [`Self::poll_readable`].
    pub(super) fn plaintext(&mut self) -> &[u8] {
        self.tls.reader().into_first_chunk().unwrap_or_default()
    }

    /// Discards the first `length` bytes of [`Self::plaintext`].
    pub(super) fn consume(&mut self, length: usize) {
        self.tls.reader().consume(length);
    }

    /// Encrypts as much of `bytes` as the outgoing buffer takes, 64 KiB at most; nothing is written before [`Self::poll_flush`].
    pub(super) fn seal(&mut self, bytes: &[u8]) -> usize {
        // It fails only without a buffer, and there always is one.
        self.tls.writer().write(bytes).unwrap_or_default()
    }

    /// Writes everything sealed; fails if the peer has reset the connection.
    pub(super) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), PeerGone>> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut Wire { transport: &mut self.transport, context }) {
                Ok(written @ 1..) => self.written = self.written.wrapping_add(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Ok(0) | Err(_) => {
                    self.gone = true;
                    return Poll::Ready(Err(PeerGone));
                }
            }
        }
        // TLS to a forward proxy has a buffer of its own; TCP has none to flush.
        if ready!(Pin::new(&mut self.transport).poll_flush(context)).is_err() {
            self.gone = true;
            return Poll::Ready(Err(PeerGone));
        }
        Poll::Ready(Ok(()))
    }

    /// Bytes written so far, including record overhead; wraps around.
    pub(super) const fn written(&self) -> usize {
        self.written
    }

    /// Ends the direction to the peer in the manner in which its source ended: `close_notify` and FIN, or FIN alone. The other
    /// direction stays open.
    pub(super) fn poll_shutdown(&mut self, context: &mut Context<'_>, manner: EndManner) -> Poll<()> {
        if !self.parting {
            self.parting = true;
            socket::limit_last_word(self.tcp());
        }
        if manner == EndManner::CloseNotify && !self.notified {
            self.notified = true;
            self.tls.send_close_notify();
        }
        if ready!(self.poll_flush(context)).is_ok() {
            // A peer that is gone needs no FIN.
            ready!(Pin::new(&mut self.transport).poll_shutdown(context)).ok();
        }
        Poll::Ready(())
    }

    fn poll_records(&mut self, context: &mut Context<'_>) -> Poll<Result<(), EndManner>> {
        match self.tls.read_tls(&mut Wire { transport: &mut self.transport, context }) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
            Err(_reset) => return Poll::Ready(Err(EndManner::Reset)),
        }
        if self.tls.process_new_packets().is_ok() {
            return Poll::Ready(Ok(()));
        }
        // Sends the alert for the peer's bytes; the peer's error takes precedence over a failed write.
        if let Poll::Ready(Err(PeerGone)) = self.poll_flush(context) {
            self.gone = false;
        }
        Poll::Ready(Err(EndManner::BrokenTls))
    }

    /// Corrects the manner of an end. After a failed write, the kernel may report an ordinary end to a reader, since it has already
    /// reported the error to the writer.
    fn manner(&self, read: EndManner) -> EndManner {
        if self.gone { EndManner::Reset } else { read }
    }
}

/// The peer has reset the connection, or the path to it is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeerGone;

/// A connection as rustls expects it: an operation that would wait returns [`io::ErrorKind::WouldBlock`], and the task of `context`
/// is woken later.
pub(super) struct Wire<'a, 'b> {
    pub(super) transport: &'a mut Transport,
    pub(super) context: &'a mut Context<'b>,
}

impl Wire<'_, '_> {
    fn now<T>(poll: Poll<io::Result<T>>) -> io::Result<T> {
        match poll {
            Poll::Ready(result) => result,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl Read for Wire<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        Self::now(Pin::new(&mut *self.transport).poll_read(self.context, &mut buffer))?;
        Ok(buffer.filled().len())
    }
}

impl Write for Wire<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Self::now(Pin::new(&mut *self.transport).poll_write(self.context, bytes))
    }

    fn write_vectored(&mut self, slices: &[io::IoSlice<'_>]) -> io::Result<usize> {
        Self::now(Pin::new(&mut *self.transport).poll_write_vectored(self.context, slices))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
