//! One connection through a hop.

use std::io;
use std::net::{SocketAddr, TcpStream as StdTcpStream};
use std::sync::Arc;

use anyhow::Result;
use rustls::server::Acceptor;
use rustls::{ClientConfig, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::{LazyConfigAcceptor, TlsConnector};

use super::flow::pass_on;
use super::listener::Passed;
use crate::loopback_tls::server_name;

/// The ends of a hop.
#[derive(Debug)]
pub(super) struct Ends {
    /// Towards the client, without a protocol.
    pub(super) downstream: ServerConfig,
    /// Towards the target, without a protocol.
    pub(super) upstream: ClientConfig,
    pub(super) target: SocketAddr,
}

impl Ends {
    /// Shakes hands with the target in the client's stead, then with the client; copies until both directions are over.
    pub(super) async fn pass(&self, client: TcpStream) -> Result<Passed> {
        let (client, client_socket) = with_second_handle(client)?;
        let hello = LazyConfigAcceptor::new(Acceptor::default(), client).await?;
        let offered = hello.client_hello().alpn().into_iter().flatten().map(<[u8]>::to_vec).collect();

        let (target, target_socket) = with_second_handle(TcpStream::connect(self.target).await?)?;
        let mut config = self.upstream.clone();
        config.alpn_protocols = offered;
        let target = TlsConnector::from(Arc::new(config)).connect(server_name(), target).await?;
        let protocol = target.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);

        let mut config = self.downstream.clone();
        config.alpn_protocols = protocol.iter().cloned().collect();
        let client = hello.into_stream(Arc::new(config)).await?;

        let (from_client, to_client) = tokio::io::split(client);
        let (from_target, to_target) = tokio::io::split(target);
        let (request, response) =
            tokio::join!(pass_on(from_client, to_target, &target_socket), pass_on(from_target, to_client, &client_socket));
        Ok(Passed { protocol: protocol.map(|name| String::from_utf8_lossy(&name).into_owned()), request, response })
    }
}

/// The handle is for ending a direction below TLS, without `close_notify`.
fn with_second_handle(socket: TcpStream) -> io::Result<(TcpStream, StdTcpStream)> {
    socket.set_nodelay(true)?;
    let socket = socket.into_std()?;
    let second = socket.try_clone()?;
    Ok((TcpStream::from_std(socket)?, second))
}
