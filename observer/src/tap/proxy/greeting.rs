//! The handshake with upstream, which can pause before its last flight.
//!
//! The user's client certificate must not be used for a client before the client has proved that it may use this certificate. But
//! the client's handshake needs the protocol that upstream chooses. Upstream sends its choice with its certificate, before the
//! proxy sends any identity. So the handshake with upstream pauses at that point.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustls::ClientConnection;
use tokio::io::AsyncWrite;

use super::side::Wire;
use crate::api_server::Transport;

/// A handshake with a server that has sent its certificate.
pub(super) struct Greeting {
    transport: Transport,
    tls: ClientConnection,
}

/// Why a handshake failed, and its connection. If the proxy had an alert to send, it has tried to send it on this connection.
pub(super) type Failed = (io::Error, Transport);

impl Greeting {
    /// Performs the handshake until the server has sent its certificate and chosen the protocol. Nothing that identifies the user
    /// is sent.
    pub(super) async fn begin(tls: ClientConnection, transport: Transport) -> Result<Self, Failed> {
        Self { transport, tls }.until(|tls| tls.peer_certificates().is_some()).await
    }

    /// The protocol that upstream has chosen.
    pub(super) fn protocol(&self) -> Option<&[u8]> {
        self.tls.alpn_protocol()
    }

    /// Sends the last flight, with the client certificate if there is one.
    pub(super) async fn complete(self) -> Result<Self, Failed> {
        let mut done = self.until(|tls| !tls.is_handshaking() && !tls.wants_write()).await?;
        match poll_fn(|context| Pin::new(&mut done.transport).poll_flush(context)).await {
            Ok(()) => Ok(done),
            Err(error) => Err((error, done.transport)),
        }
    }

    pub(super) fn transport(&self) -> &Transport {
        &self.transport
    }

    pub(super) fn into_inner(self) -> (Transport, ClientConnection) {
        (self.transport, self.tls)
    }

    async fn until(mut self, reached: impl Fn(&ClientConnection) -> bool) -> Result<Self, Failed> {
        match poll_fn(|context| self.poll_until(context, &reached)).await {
            Ok(()) => Ok(self),
            Err(error) => Err((error, self.transport)),
        }
    }

    fn poll_until(&mut self, context: &mut Context<'_>, reached: impl Fn(&ClientConnection) -> bool) -> Poll<io::Result<()>> {
        // Writes first, since the server may wait for that output. The last flight can wait: a read produces it, and then `reached`
        // holds.
        while !reached(&self.tls) {
            ready!(self.poll_write(context))?;
            if !reached(&self.tls) {
                ready!(self.poll_read(context))?;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut Wire { transport: &mut self.transport, context }) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Pin::new(&mut self.transport).poll_flush(context)
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.tls.read_tls(&mut Wire { transport: &mut self.transport, context }) {
            Ok(0) => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
            Err(error) => return Poll::Ready(Err(error)),
        }
        let Err(error) = self.tls.process_new_packets() else { return Poll::Ready(Ok(())) };
        // Sends the alert if it can be written at once; the error is the same without it.
        let _alert: Poll<io::Result<()>> = self.poll_write(context);
        Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)))
    }
}
