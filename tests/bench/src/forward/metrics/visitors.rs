//! Visitors of a server of metrics, on a thread of their own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

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

/// Visitors that come until this is dropped.
pub(super) struct Visitors {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

const SECOND: Duration = Duration::from_secs(1);
const SCRAPE: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n";

impl Visitors {
    /// Visitors of the server at `address`.
    pub(super) fn at(address: SocketAddr, visits: Vec<Visit>) -> Result<Self> {
        Self::start(Some(address), visits)
    }

    /// Visitors of a server that closes each connection after its first bytes.
    pub(super) fn elsewhere(visits: Vec<Visit>) -> Result<Self> {
        Self::start(None, visits)
    }

    fn start(address: Option<SocketAddr>, visits: Vec<Visit>) -> Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = Builder::new().name("visitors".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ended = all(address, visits) => {}
                    _stopped = stopped => {}
                }
            });
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Visitors {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A visitor that panics ends its thread; the measurement is only less disturbed.
            thread.join().ok();
        }
    }
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
