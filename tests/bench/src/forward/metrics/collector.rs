//! A collector that takes everything.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as BoundListener};

use anyhow::Result;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::background::Background;

/// Starts a collector that answers each request with 200 and an empty body, which is a complete answer in protobuf. Returns its address.
pub(super) fn collector() -> Result<(SocketAddr, Background)> {
    let listener = BoundListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((address, Background::run("collector", serve(listener))?))
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
