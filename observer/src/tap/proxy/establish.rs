//! Turns a client's TCP connection into two TLS sides that use the same protocol.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use observer_core::http::Protocol;
use rustls::{CertificateError, ClientConnection};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::StartHandshake;
use tokio_rustls::server::Accept;

use super::connection_tls::ConnectionTls;
use super::greeting::{self, Greeting};
use super::hellos::Hello;
use super::probe::Spare;
use super::server_configs::{HTTP1, HTTP2};
use super::shared::Shared;
use super::side::Side;
use super::{Entrance, connect_request, hello, socket, unforwardable};
use crate::api_server::{Transport, UpstreamError, UpstreamTls, timed_out};

/// A connection that is ready to be spliced.
pub(super) struct Established {
    pub(super) downstream: Side,
    pub(super) upstream: Side,
    pub(super) upstream_address: SocketAddr,
    pub(super) protocol: Option<Protocol>,
    /// The identities that it was established with.
    pub(super) connection_tls: Arc<ConnectionTls>,
}

/// Why no connection was established.
pub(super) enum Failure {
    /// The client failed; its socket is already closed.
    Client,
    /// The client presented a certificate that cannot be passed on; its socket is already closed.
    Certificate,
    /// The client presented no certificate, at a listener that presents one upstream; its socket is already closed.
    NoCertificate,
    /// The client had not completed its `ClientHello` when others needed room; its socket is already closed.
    Crowded,
    /// The client requested a target other than the listener's API server; its socket is already closed.
    Elsewhere,
    /// Upstream failed. The caller must reset the client's socket.
    Upstream(UpstreamError, TcpStream),
    /// The port was closed before the client's first message was complete. The caller must reset the client's socket.
    Held(TcpStream),
}

/// Reads the `ClientHello`, begins the handshake with upstream, then finishes the client's handshake, all before `deadline`. The
/// client certificate for upstream is sent last, after the client has been let in.
pub(super) async fn establish(
    shared: &Arc<Shared>,
    client: TcpStream,
    waiting: Hello,
    spare: Option<Spare>,
    deadline: Instant,
) -> Result<Established, Failure> {
    socket::prepare(&client).map_err(|_client_is_gone| Failure::Client)?;
    let (client, early) = match shared.entrance {
        Entrance::Server => (client, Err(spare)),
        Entrance::ForwardProxy => {
            let mut client = connect_request::receive(shared, client, deadline).await?;
            match reach(shared, spare, deadline).await {
                Ok(transport) => {
                    connect_request::grant(&mut client).await?;
                    (client, Ok(transport))
                }
                Err(error) => return Err(Failure::Upstream(error, client)),
            }
        }
    };
    let hello = client_hello(shared, client, waiting, deadline).await?;
    let offer = hello.client_hello().alpn().map(|names| names.map(<[u8]>::to_vec).collect()).unwrap_or_default();
    shared.renew().await;
    let connection_tls = shared.connection_tls.current();
    let reached = match early {
        Ok(transport) => Ok(transport),
        Err(spare) => reach(shared, spare, deadline).await,
    };
    let greeted = match reached {
        Ok(transport) => greet(shared, &connection_tls.upstream_tls, offer, transport, deadline).await,
        Err(error) => Err(error),
    };
    let (greeting, upstream_address) = match greeted {
        Ok(greeted) => greeted,
        Err(error) => return Err(Failure::Upstream(error, hello.io)),
    };
    let accept = hello.into_stream(connection_tls.server_configs.for_protocol(greeting.protocol()));
    let (client, client_tls) = match finish(accept, deadline).await {
        Ok(finished) => finished,
        Err(failure) => {
            socket::close_gracefully(greeting.transport().tcp());
            return Err(failure);
        }
    };
    let (upstream, upstream_tls) = match complete(shared, greeting, deadline).await {
        Ok(greeting) => greeting.into_inner(),
        Err(error) => return Err(Failure::Upstream(error, client)),
    };
    let protocol = upstream_tls.alpn_protocol().and_then(known_protocol);
    let (downstream, upstream) = (Side::new(client, client_tls), Side::new(upstream, upstream_tls));
    Ok(Established { downstream, upstream, upstream_address, protocol, connection_tls })
}

async fn client_hello(
    shared: &Shared,
    client: TcpStream,
    waiting: Hello,
    deadline: Instant,
) -> Result<StartHandshake<TcpStream>, Failure> {
    tokio::select! {
        biased;
        hello = timeout_at(deadline, hello::read(&client, &waiting)) => match hello {
            Ok(Ok(accepted)) => Ok(StartHandshake::from_parts(accepted, client)),
            Ok(Err(_left_or_not_tls)) => {
                // The alert with the reason is already on its way.
                socket::close_gracefully(&client);
                Err(Failure::Client)
            }
            // Dropping the socket as it is resets it.
            Err(_elapsed) => Err(Failure::Client),
        },
        () = waiting.is_to_be_reset() => Err(Failure::Crowded),
        () = shared.gate.held() => Err(Failure::Held(client)),
    }
}

async fn reach(shared: &Shared, spare: Option<Spare>, deadline: Instant) -> Result<Transport, UpstreamError> {
    match spare.and_then(Spare::into_quiet) {
        Some(tcp) => Ok(Transport::Tcp(tcp)),
        None => shared.route.connect(deadline.saturating_duration_since(Instant::now())).await,
    }
}

/// Performs the handshake with upstream. If a client certificate is presented, the last flight waits: the client must first prove
/// that it may use this certificate.
async fn greet(
    shared: &Shared,
    tls: &UpstreamTls,
    offer: Vec<Vec<u8>>,
    transport: Transport,
    deadline: Instant,
) -> Result<(Greeting, SocketAddr), UpstreamError> {
    let endpoint = shared.route.endpoint().to_string();
    let ready = socket::prepare(transport.tcp()).and_then(|()| transport.tcp().peer_addr());
    let address = ready.map_err(|_upstream_is_gone| UpstreamError::Closed { endpoint: endpoint.clone() })?;
    let client = ClientConnection::new_with_alpn(tls.client_config(), tls.server_name(), offer);
    let client = client.map_err(|fault| UpstreamError::Tls { endpoint, detail: fault.to_string() })?;
    let greeting = within(shared, deadline, Greeting::begin(client, transport)).await?;
    let greeting = if tls.presents_certificate() { greeting } else { complete(shared, greeting, deadline).await? };
    Ok((greeting, address))
}

/// Sends the last flight, unless the handshake is complete.
async fn complete(shared: &Shared, greeting: Greeting, deadline: Instant) -> Result<Greeting, UpstreamError> {
    within(shared, deadline, greeting.complete()).await
}

async fn within(
    shared: &Shared,
    deadline: Instant,
    step: impl Future<Output = Result<Greeting, greeting::Failed>>,
) -> Result<Greeting, UpstreamError> {
    match timeout_at(deadline, step).await {
        Ok(Ok(greeting)) => Ok(greeting),
        Ok(Err((error, transport))) => {
            socket::close_gracefully(transport.tcp());
            Err(handshake_error(shared, &error))
        }
        Err(_elapsed) => Err(timed_out(&shared.route.endpoint().to_string(), shared.handshake_limit)),
    }
}

fn handshake_error(shared: &Shared, error: &io::Error) -> UpstreamError {
    let endpoint = shared.route.endpoint().to_string();
    match tls_error(error) {
        Some(rustls::Error::InvalidCertificate(fault)) => {
            let detail = fault.to_string();
            if is_of_time(fault) {
                UpstreamError::CertificateTime { endpoint, detail }
            } else {
                UpstreamError::Certificate { endpoint, detail }
            }
        }
        Some(fault) => UpstreamError::Tls { endpoint, detail: fault.to_string() },
        None => UpstreamError::Closed { endpoint },
    }
}

/// Whether the certificate would be accepted at another time.
fn is_of_time(fault: &CertificateError) -> bool {
    use CertificateError::{Expired, ExpiredContext, NotValidYet, NotValidYetContext};
    matches!(fault, Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. })
}

/// Finishes the client's handshake. It fails if the client left, presented a wrong certificate, or took too long.
async fn finish(accept: Accept<TcpStream>, deadline: Instant) -> Result<(TcpStream, rustls::ServerConnection), Failure> {
    match timeout_at(deadline, accept.into_fallible()).await {
        Ok(Ok(stream)) => Ok(stream.into_inner()),
        Ok(Err((error, client))) => {
            socket::close_gracefully(&client);
            Err(match tls_error(&error) {
                Some(fault) if *fault == unforwardable::REFUSAL => Failure::Certificate,
                Some(rustls::Error::NoCertificatesPresented) => Failure::NoCertificate,
                _other => Failure::Client,
            })
        }
        Err(_elapsed) => Err(Failure::Client),
    }
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

fn known_protocol(alpn: &[u8]) -> Option<Protocol> {
    match alpn {
        HTTP1 => Some(Protocol::Http1),
        HTTP2 => Some(Protocol::Http2),
        _ => None,
    }
}
