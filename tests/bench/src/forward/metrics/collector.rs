//! A collector that takes everything.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as BoundListener};
use std::thread::{Builder, JoinHandle};

use anyhow::Result;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// A collector that answers each request with 200 and an empty body, which is a complete answer in protobuf. It runs until this is
/// dropped.
pub(super) struct Collector {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Collector {
    pub(super) fn start() -> Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = BoundListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let thread = Builder::new().name("collector".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ended = serve(listener) => {}
                    _stopped = stopped => {}
                }
            });
        })?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

async fn serve(listener: BoundListener) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        if let Ok((tcp, _)) = listener.accept().await {
            // A connection that ends is no fault.
            tokio::spawn(async move { answer(tcp).await.ok() });
        }
    }
}

async fn answer(tcp: TcpStream) -> io::Result<()> {
    let mut tcp = BufReader::new(tcp);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if tcp.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if line == "\r\n" {
                break;
            }
            let value = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            length = value.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(length);
        }
        tokio::io::copy(&mut (&mut tcp).take(length), &mut tokio::io::sink()).await?;
        tcp.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n").await?;
    }
}
