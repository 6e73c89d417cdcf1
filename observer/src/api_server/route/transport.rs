//! The layer below the TLS of an API server: TCP, or TLS to a forward proxy.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A byte stream to an API server.
#[derive(Debug)]
pub enum Transport {
    /// Direct, or through a proxy without TLS.
    Tcp(TcpStream),
    /// Through a proxy with an `https` address.
    WithinTls(Box<TlsStream<TcpStream>>),
}

impl Transport {
    /// The underlying socket.
    pub(crate) fn tcp(&self) -> &TcpStream {
        match self {
            Self::Tcp(tcp) => tcp,
            Self::WithinTls(tls) => tls.get_ref().0,
        }
    }
}

impl From<TcpStream> for Transport {
    fn from(tcp: TcpStream) -> Self {
        Self::Tcp(tcp)
    }
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(tcp) => Pin::new(tcp).poll_read(context, buffer),
            // This is the end of the connection to the proxy. The inner TLS layer detects how the API server ended its side.
            Self::WithinTls(tls) => match ready!(Pin::new(tls).poll_read(context, buffer)) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
                read => Poll::Ready(read),
            },
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(tcp) => Pin::new(tcp).poll_write(context, bytes),
            Self::WithinTls(tls) => Pin::new(tls).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(tcp) => Pin::new(tcp).poll_write_vectored(context, slices),
            Self::WithinTls(tls) => Pin::new(tls).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(tcp) => Pin::new(tcp).poll_flush(context),
            Self::WithinTls(tls) => Pin::new(tls).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(tcp) => Pin::new(tcp).poll_shutdown(context),
            Self::WithinTls(tls) => Pin::new(tls).poll_shutdown(context),
        }
    }
}
