//! One direction of a connection.

use std::io;
use std::net::{Shutdown, TcpStream};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::digest::Digest;

/// How a sender ended its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// TLS `close_notify`: all data arrived.
    CloseNotify,
    /// The connection ended without `close_notify`, by FIN or RST.
    Cut,
}

/// The traffic of one direction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// Digest of its plaintext.
    pub plaintext: Digest,
    /// How it ended.
    pub end: End,
}

/// Bytes or the end of a direction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen<'a> {
    Bytes(&'a [u8]),
    End(End),
}

/// Forwards everything from `from`, and then the end of that direction. An RST is forwarded as a FIN. `note` runs before the
/// receiver gets the bytes.
///
/// If the receiver has closed the connection, the rest is still read. So the counts of one hop do not depend on when the other hop
/// noticed that. `socket` is the socket under `to`.
pub(super) async fn pass_on(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    socket: &TcpStream,
    mut note: impl FnMut(Seen<'_>),
) {
    const READ: usize = 64 << 10;
    let mut buffer = vec![0; READ];
    let mut receiving = true;
    let end = loop {
        let Ok(length) = from.read(&mut buffer).await else { break End::Cut };
        let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else { break End::CloseNotify };
        note(Seen::Bytes(bytes));
        receiving = receiving && send(&mut to, bytes).await.is_ok();
    };
    note(Seen::End(end));
    // If the receiver closed its side first, it does not receive the end.
    match end {
        End::CloseNotify => to.shutdown().await.ok(),
        End::Cut => socket.shutdown(Shutdown::Write).ok(),
    };
}

async fn send(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes).await?;
    to.flush().await
}
