//! Visitors of a server of metrics, on a thread of their own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::background::Background;

/// The behaviour of one visitor. Each comes again a second after its connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// Scrapes, and reads everything.
    Scrape,
    /// Asks for the metrics, and reads one byte a second.
    Unread,
    /// Sends one byte of its request a second.
    Trickle,
    /// Sends a header field without an end.
    EndlessHead,
    /// Asks for a file outside all folders.
    WrongPath,
}

const SECOND: Duration = Duration::from_secs(1);
const SCRAPE: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n";

/// Lets visitors come to the server at `address`. Without one, they visit a server that closes each connection after its first bytes.
pub(super) fn visitors(address: Option<SocketAddr>, visits: Vec<Visit>) -> Result<Background> {
    Background::run("visitors", all(address, visits))
}

async fn all(address: Option<SocketAddr>, visits: Vec<Visit>) -> io::Result<()> {
    let mut running = JoinSet::new();
    let address = if let Some(address) = address {
        address
    } else {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        running.spawn(close_each(listener));
        address
    };
    let pause = SECOND / u32::try_from(visits.len()).unwrap_or(u32::MAX).max(1);
    for visit in visits {
        running.spawn(async move {
            loop {
                // A server that closes the connection ends the visit.
                visit.pay(address).await.ok();
                sleep(SECOND).await;
            }
        });
        // They come one after the other, and stay so.
        sleep(pause).await;
    }
    while running.join_next().await.is_some() {}
    Ok(())
}

async fn close_each(listener: TcpListener) {
    let mut open = JoinSet::new();
    loop {
        if let Ok((mut tcp, _)) = listener.accept().await {
            open.spawn(async move { timeout(SECOND, tcp.read(&mut [0; 1024])).await.ok() });
        }
        while open.try_join_next().is_some() {}
    }
}

impl Visit {
    async fn pay(self, address: SocketAddr) -> io::Result<()> {
        let mut tcp = TcpStream::connect(address).await?;
        match self {
            Self::Scrape => {
                tcp.write_all(SCRAPE).await?;
                tcp.read_to_end(&mut Vec::new()).await?;
            }
            Self::Unread => {
                tcp.write_all(SCRAPE).await?;
                while tcp.read(&mut [0; 1]).await? > 0 {
                    sleep(SECOND).await;
                }
            }
            Self::Trickle => {
                for byte in SCRAPE {
                    tcp.write_all(&[*byte]).await?;
                    sleep(SECOND).await;
                }
            }
            Self::EndlessHead => {
                tcp.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Large: ").await?;
                loop {
                    tcp.write_all(&[b'x'; 16 << 10]).await?;
                }
            }
            Self::WrongPath => {
                tcp.write_all(b"GET /../../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
                tcp.read_to_end(&mut Vec::new()).await?;
            }
        }
        Ok(())
    }
}
