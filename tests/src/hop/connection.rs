//! The steps of one connection through a hop.

use std::io;
use std::net::{SocketAddr, TcpStream as StdTcpStream};
use std::sync::Arc;

use anyhow::Result;
use rustls::server::Acceptor;
use rustls::{ClientConfig, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::{LazyConfigAcceptor, StartHandshake, TlsConnector, client, server};

use super::flow::{Seen, pass_on};
use crate::loopback_tls::{self, server_name};

/// TLS configurations of both sides of a hop.
#[derive(Debug)]
pub(super) struct Ends {
    /// Towards the client, without ALPN protocols.
    downstream: ServerConfig,
    /// Towards the target, without ALPN protocols.
    upstream: ClientConfig,
    target: SocketAddr,
}

/// A client whose `ClientHello` has been read.
pub(super) struct Greeted {
    hello: StartHandshake<TcpStream>,
    socket: StdTcpStream,
}

/// A client together with an established upstream connection.
pub(super) struct Reached {
    client: Greeted,
    target: client::TlsStream<TcpStream>,
    target_socket: StdTcpStream,
    protocol: Option<Vec<u8>>,
}

/// Both TLS handshakes are complete.
pub(super) struct Joined {
    client: server::TlsStream<TcpStream>,
    client_socket: StdTcpStream,
    target: client::TlsStream<TcpStream>,
    target_socket: StdTcpStream,
    /// The ALPN protocol that the target chose.
    pub(super) protocol: Option<String>,
}

impl Ends {
    /// For `target`, whose certificate `trusted` (PEM) signed. Also returns the CA of the hop, PEM.
    pub(super) fn to(target: SocketAddr, trusted: &str) -> Result<(Self, String)> {
        let upstream = loopback_tls::client_config(trusted)?;
        let (downstream, authority) = loopback_tls::server_config()?;
        Ok((Self { downstream, upstream, target }, authority))
    }

    /// Completes the TLS handshake with the target, offering the client's protocols.
    pub(super) async fn reach(&self, client: Greeted) -> Result<Reached> {
        let offered = client.offered();
        self.reach_offering(client, offered).await
    }

    /// Completes the TLS handshake with the target, offering these protocols.
    pub(super) async fn reach_offering(&self, client: Greeted, offered: Vec<Vec<u8>>) -> Result<Reached> {
        let (target, target_socket) = with_second_handle(TcpStream::connect(self.target).await?)?;
        let mut config = self.upstream.clone();
        config.alpn_protocols = offered;
        let target = TlsConnector::from(Arc::new(config)).connect(server_name(), target).await?;
        let protocol = target.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        Ok(Reached { client, target, target_socket, protocol })
    }

    /// Completes the TLS handshake with the client, with the protocol that the target chose.
    pub(super) async fn join(&self, reached: Reached) -> Result<Joined> {
        let Reached { client: Greeted { hello, socket: client_socket }, target, target_socket, protocol } = reached;
        let mut config = self.downstream.clone();
        config.alpn_protocols = protocol.iter().cloned().collect();
        let client = hello.into_stream(Arc::new(config)).await?;
        let protocol = protocol.map(|name| String::from_utf8_lossy(&name).into_owned());
        Ok(Joined { client, client_socket, target, target_socket, protocol })
    }
}

impl Greeted {
    pub(super) async fn by(client: TcpStream) -> Result<Self> {
        let (client, socket) = with_second_handle(client)?;
        let hello = LazyConfigAcceptor::new(Acceptor::default(), client).await?;
        Ok(Self { hello, socket })
    }

    /// The ALPN protocols that the client offers.
    pub(super) fn offered(&self) -> Vec<Vec<u8>> {
        self.hello.client_hello().alpn().into_iter().flatten().map(<[u8]>::to_vec).collect()
    }
}

impl Joined {
    /// Copies until both directions have ended; reports all bytes and ends to the two callbacks.
    pub(super) async fn pass(self, of_request: impl FnMut(Seen<'_>), of_response: impl FnMut(Seen<'_>)) {
        let Self { client, client_socket, target, target_socket, .. } = self;
        let (from_client, to_client) = tokio::io::split(client);
        let (from_target, to_target) = tokio::io::split(target);
        tokio::join!(
            pass_on(from_client, to_target, &target_socket, of_request),
            pass_on(from_target, to_client, &client_socket, of_response)
        );
    }
}

/// The second handle can end a direction below TLS, without `close_notify`.
fn with_second_handle(socket: TcpStream) -> io::Result<(TcpStream, StdTcpStream)> {
    socket.set_nodelay(true)?;
    let socket = socket.into_std()?;
    let second = socket.try_clone()?;
    Ok((TcpStream::from_std(socket)?, second))
}
