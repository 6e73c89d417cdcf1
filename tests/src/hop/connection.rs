//! One connection through a hop, step by step.

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

/// The ends of a hop.
#[derive(Debug)]
pub(super) struct Ends {
    /// Towards the client, without a protocol.
    downstream: ServerConfig,
    /// Towards the target, without a protocol.
    upstream: ClientConfig,
    target: SocketAddr,
}

/// A client has come, and has said what it offers.
pub(super) struct Greeted {
    hello: StartHandshake<TcpStream>,
    socket: StdTcpStream,
}

/// The target has been reached in the client's stead.
pub(super) struct Reached {
    client: Greeted,
    target: client::TlsStream<TcpStream>,
    target_socket: StdTcpStream,
    protocol: Option<Vec<u8>>,
}

/// Both have shaken hands.
pub(super) struct Joined {
    client: server::TlsStream<TcpStream>,
    client_socket: StdTcpStream,
    target: client::TlsStream<TcpStream>,
    target_socket: StdTcpStream,
    /// The protocol that the target chose.
    pub(super) protocol: Option<String>,
}

impl Ends {
    /// To `target`, whose certificate is vouched for by `trusted` (PEM); also the authority that vouches for the hop, PEM.
    pub(super) fn to(target: SocketAddr, trusted: &str) -> Result<(Self, String)> {
        let upstream = loopback_tls::client_config(trusted)?;
        let (downstream, authority) = loopback_tls::server_config()?;
        Ok((Self { downstream, upstream, target }, authority))
    }

    /// Shakes hands with the target, offering what the client offers.
    pub(super) async fn reach(&self, client: Greeted) -> Result<Reached> {
        let offered = client.offered();
        self.reach_offering(client, offered).await
    }

    /// Shakes hands with the target, offering these protocols.
    pub(super) async fn reach_offering(&self, client: Greeted, offered: Vec<Vec<u8>>) -> Result<Reached> {
        let (target, target_socket) = with_second_handle(TcpStream::connect(self.target).await?)?;
        let mut config = self.upstream.clone();
        config.alpn_protocols = offered;
        let target = TlsConnector::from(Arc::new(config)).connect(server_name(), target).await?;
        let protocol = target.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        Ok(Reached { client, target, target_socket, protocol })
    }

    /// Shakes hands with the client, with what the target chose.
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

    /// The protocols that the client offers by ALPN.
    pub(super) fn offered(&self) -> Vec<Vec<u8>> {
        self.hello.client_hello().alpn().into_iter().flatten().map(<[u8]>::to_vec).collect()
    }
}

impl Joined {
    /// Copies until both directions are over; what is seen of each is noted.
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

/// The handle is for ending a direction below TLS, without `close_notify`.
fn with_second_handle(socket: TcpStream) -> io::Result<(TcpStream, StdTcpStream)> {
    socket.set_nodelay(true)?;
    let socket = socket.into_std()?;
    let second = socket.try_clone()?;
    Ok((TcpStream::from_std(socket)?, second))
}
