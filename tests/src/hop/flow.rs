//! One direction of a connection.

use std::io;
use std::net::{Shutdown, TcpStream};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::digest::Digest;

/// How a sender ended its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// TLS's `close_notify`: everything came.
    CloseNotify,
    /// The connection ended without it, by FIN or by RST.
    Cut,
}

/// What one direction carried.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// Its plaintext.
    pub plaintext: Digest,
    /// Its end.
    pub end: End,
}

/// What is seen of a direction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen<'a> {
    Bytes(&'a [u8]),
    End(End),
}

/// Passes on what `from` sends until it ends, and then its end, of which RST becomes FIN. `note` hears of each before the receiver does.
///
/// When the receiver goes away the rest is read all the same: so what one hop counts does not depend on when the other one noticed.
/// `socket` is the socket under `to`.
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
    // Whoever went away first does not hear of the end.
    match end {
        End::CloseNotify => to.shutdown().await.ok(),
        End::Cut => socket.shutdown(Shutdown::Write).ok(),
    };
}

async fn send(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes).await?;
    to.flush().await
}
